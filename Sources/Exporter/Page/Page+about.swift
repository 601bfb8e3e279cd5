import AirQuality

extension Page {
    /// Renders `/about`: version, scale and all paths. The document is UTF-8.
    public func about() -> [UInt8] {
        let categories = Markup(each: scale.categories) { category in
            """
            <tr><td><span class="word c\(category.number)">\(category.name)</span></td>\
            <td class="number">\(Int(category.from))</td>\
            <td>\(category.healthStatement)</td><td>\(category.sportAdvice)</td><td>\(category.sensitiveAdvice)</td></tr>

            """
        }
        let wall = (path: "/?kiosk", isLink: true, meaning: "the list as a wall display")
        let paths = Markup(each: settings.paths + [wall]) { path, isLink, meaning in
            let name: Markup = isLink ? "<a href=\".\(path)\">\(path)</a>" : "\(path)"
            return "<tr><td>\(name)</td><td>\(meaning)</td></tr>\n"
        }
        let content: Markup = """
            <main id="content" class="about">
            <nav class="back" aria-label="Cities"><a href="./">All cities</a></nav>
            <h1>About this page</h1>
            <section>
            <h2>\(scale.title)</h2>
            <p>\(scale.authority). The number shown is the integer part of the index, which determines the \
            category. An upward arrow means that the category got better, a downward one that it got worse.</p>
            \(table("Categories", columns: ["Category", "From", "Meaning", "Sport outdoors", "Sensitive people"], number: 1, categories))
            </section>
            <section>
            <h2>Paths</h2>
            \(table("Paths", columns: ["Path", "Meaning"], paths))
            <p>Air Quality Exporter \(settings.version)</p>
            </section>
            </main>

            """
        return render(content, title: "About · Air quality", root: "./")
    }
}
