@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    checkPrograms(unsafe Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}
