import type { Input } from "@hamlet/contract/client"

/**
 * What a token may do. The list of the contract comes with everything that checks input, which
 * would take longer to read than most commands do.
 */
export const scopes: Input<"createToken">["scopes"] = [
  "val:read",
  "val:write",
  "user:read",
  "user:write",
  "run:read",
  "run:write",
  "blob:read",
  "blob:write",
  "sqlite:read",
  "sqlite:write",
  "admin",
  "backup",
]
