/** What a page is told: the parts of the path that its pattern names. */
export type PageProps = Readonly<Record<string, string>>
