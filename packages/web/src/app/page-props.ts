/** The properties of a page: the named parts of its path. */
export type PageProps = Readonly<Record<string, string>>
