/// Groups elements into JSON arrays of at most `maximumCount`; returns one empty array if there are none.
package func jsonArrays(of elements: [[UInt8]], maximumCount: Int) -> [[UInt8]] {
    stride(from: 0, to: max(1, elements.count), by: maximumCount).map { start in
        var array = [UInt8(ascii: "[")]
        for element in elements[start...].prefix(maximumCount) {
            if array.count > 1 { array.append(UInt8(ascii: ",")) }
            array += element
        }
        return array + [UInt8(ascii: "]")]
    }
}
