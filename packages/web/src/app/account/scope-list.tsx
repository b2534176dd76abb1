import type { Input } from "@hamlet/contract/client"
import type { Signal } from "@preact/signals"
import { CheckList } from "../parts/forms/check-list.tsx"

/** What a token may do. */
export type Scope = Input<"createToken">["scopes"][number]

/** Code can read and do all that the account of its owner can, whatever the other scopes are. */
const withAll = "whose code can use your secrets, blobs, database and mail"

const meanings: readonly (readonly [Scope, string])[] = [
  ["val:read", "read vals"],
  ["val:write", `create and change vals, ${withAll}`],
  ["run:read", "read runs and logs"],
  ["run:write", `run vals and other code, ${withAll}`],
  ["user:read", "read your account"],
  ["user:write", "change your account, create tokens"],
  ["blob:read", "read blobs"],
  ["blob:write", "write blobs"],
  ["sqlite:read", "read your database"],
  ["sqlite:write", "write your database"],
  ["email:write", "send mail"],
  ["openai:write", "use the language models of this server"],
]

/** A box for each scope that can be chosen; all that have a meaning here if none are named. */
export function ScopeList(props: {
  readonly label: string
  readonly chosen: Signal<ReadonlySet<Scope>>
  readonly offered?: readonly Scope[]
}) {
  const { label, chosen, offered } = props
  const shown = meanings.filter(([scope]) => offered === undefined || offered.includes(scope))
  return <CheckList label={label} meanings={shown} chosen={chosen} />
}
