/** The header that a page of the server itself sends with every request: no form can, and no page of another origin is allowed to. */
export const sessionHeader = "x-hamlet-session"
