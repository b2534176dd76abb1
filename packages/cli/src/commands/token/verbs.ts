import { scopes } from "@hamlet/contract/lists"
import type { Verbs } from "../../command.ts"
import { toFutureMoment } from "../../runs/since.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"

export const verbs: Verbs = {
  new: defineCall({
    summary: "Create a token",
    description:
      "Prints the token once. It can have only scopes of the token you are signed in with.",
    examples: [
      ["hamlet token new reader --scope val:read run:read", "a read-only token"],
      ["hamlet token new ci --scope val:write --expires 30d", "a token that expires"],
      [
        "hamlet token new laptop --scope val:read | ssh laptop hamlet login URL",
        "sign in elsewhere without showing the token",
      ],
    ],
    takes: {
      "<name>": "name of the token",
      "-s, --scope <scope...>": { help: "scopes of the token", choices: scopes, isMandatory: true },
      "--expires <time>": { help: "when it expires: 12h, 30d or a date", parse: toFutureMoment },
    },
    async call({ client }, { name, scope, expires }) {
      const created = await client.createToken({ name, scopes: scope, expiresAt: expires })
      return {
        json: created,
        plain: created.token,
        note: "Save the token now: it will not be shown again",
      }
    },
  }),
  list: defineList({
    summary: "List your tokens",
    description:
      "Shows their scopes and when they were last used. The tokens themselves are not stored.",
    examples: [["hamlet token list", "list your tokens"]],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listTokens", page),
    empty: "No tokens",
    columns: [
      { title: "token", value: ({ id }) => id, isWhole: true },
      { title: "name", value: ({ name }) => name, paint: (colour) => colour.bold },
      { title: "used", value: ({ lastUsedAt }) => lastUsedAt, isTime: true, absent: "never" },
      { title: "expires", value: ({ expiresAt }) => expiresAt, isTime: true, absent: "never" },
      { title: "scopes", value: ({ scopes }) => scopes.join(" ") },
    ],
  }),
  revoke: defineCall({
    summary: "Revoke a token",
    description: "Takes effect at once on every node, and cannot be undone.",
    examples: [
      [
        "hamlet token revoke 0190a6b1-7e3c-7c4d-8f5e-0123456789ab",
        'revoke a token by its id (see "hamlet token list")',
      ],
    ],
    takes: { "<token>": "id of the token", ...confirmOption },
    async call({ client }, { token: id, yes }) {
      await confirm(`Revoke the token ${id}?`, { yes })
      await client.revokeToken({ token_id: id })
      return { json: { id, revoked: true }, plain: id, human: `Revoked ${id}` }
    },
  }),
}
