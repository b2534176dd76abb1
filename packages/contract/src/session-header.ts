/**
 * The header that a page of the server itself sends with every request: no form can, and no page of
 * another origin is allowed to. Its value is the page key of the session, or `noPageKey` where the
 * page holds none.
 */
export const sessionHeader = "x-hamlet-session"

/** What a page sends that holds no page key. */
export const noPageKey = "1"
