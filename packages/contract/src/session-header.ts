/**
 * The header that pages of the server send with every request: forms cannot set it, and pages of
 * other origins may not. Its value is the page key of the session, or `noPageKey`.
 */
export const sessionHeader = "x-hamlet-session"

/** The value for a page without a page key. */
export const noPageKey = "1"
