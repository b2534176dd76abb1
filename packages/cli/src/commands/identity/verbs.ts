import type { Verbs } from "../../command.ts"
import { defineCall, defineList, listOptions } from "../../shapes.ts"

export const verbs: Verbs = {
  list: defineList({
    summary: "List linked accounts",
    description: "Newest first. The account page of the web app links another one.",
    examples: [["hamlet identity list", "list the accounts that sign you in"]],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listIdentities", page),
    empty: "No account of the provider is linked",
    columns: [
      { title: "email", value: ({ email }) => email },
      { title: "issuer", value: ({ issuer }) => issuer },
      { title: "since", value: ({ createdAt }) => createdAt, isTime: true },
      { title: "used", value: ({ lastUsedAt }) => lastUsedAt, isTime: true },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  }),
  rm: defineCall({
    summary: "Unlink an account",
    description: "The account of the provider no longer signs you in. Browsers stay signed in.",
    examples: [["hamlet identity rm 01890000-0000-7000-8000-000000000000", "unlink an account"]],
    takes: { "<id>": 'id of the identity (see "hamlet identity list")' },
    async call({ client }, { id }) {
      await client.unlinkIdentity({ identity_id: id })
      return { json: { id, unlinked: true }, plain: id, human: `Unlinked ${id}` }
    },
  }),
}
