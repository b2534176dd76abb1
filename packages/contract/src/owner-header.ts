/** The header that says for whom a request acts: an organisation of the caller, by name or id. */
export const ownerHeader = "hamlet-owner"
