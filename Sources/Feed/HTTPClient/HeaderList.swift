internal import CCurl

/// The one owner of a `curl_slist`.
@safe struct HeaderList: ~Copyable {
    let list: UnsafeMutablePointer<curl_slist>?

    /// `nil` when a line is not one line or there is no memory.
    init?(_ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines {
            let isOneLine = !line.utf8.contains { $0 < 0x20 || $0 == 0x7F }
            guard isOneLine, let longer = unsafe curl_slist_append(list, line) else {
                unsafe curl_slist_free_all(list)
                return nil
            }
            unsafe list = longer
        }
        unsafe self.list = list
    }

    deinit { unsafe curl_slist_free_all(list) }
}
