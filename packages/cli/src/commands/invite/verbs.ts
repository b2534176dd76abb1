import { type Verbs, wholeNumber } from "../../command.ts"
import { defineCall, defineList, listOptions } from "../../shapes.ts"

export const verbs: Verbs = {
  new: defineCall({
    summary: "Create an invitation link",
    description: `Prints a link that lets one person choose a username and sign in, in a browser or with "hamlet join". It
works once, for 72 hours unless you set --hours.`,
    examples: [
      ["hamlet invite new", "create an invitation"],
      ['hamlet invite new --note "Grace" --hours 24', "valid for a day, with a note"],
    ],
    takes: {
      "--note <text>": "note for administrators",
      "--email <address>": "email address that the account gets",
      "--hours <count>": {
        help: "hours until it expires, at most 720",
        parse: wholeNumber(1, 720),
      },
    },
    async call({ client }, { note, hours, email }) {
      const created = await client.createInvitation({ note, hours, email })
      return {
        json: created,
        plain: created.url,
        note: `The link works once, until ${created.expiresAt}. It will not be shown again`,
      }
    },
  }),
  list: defineList({
    summary: "List open invitations",
    description: "Lists invitations that are neither accepted nor expired, newest first.",
    examples: [["hamlet invite list", "open invitations"]],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listInvitations", page),
    empty: "No open invitations",
    columns: [
      { title: "note", value: ({ note }) => note, paint: (colour) => colour.bold },
      { title: "by", value: ({ createdBy }) => createdBy },
      { title: "until", value: ({ expiresAt }) => expiresAt },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  }),
  revoke: defineCall({
    summary: "Revoke an invitation",
    examples: [
      ["hamlet invite revoke 01890000-0000-7000-8000-000000000000", "revoke an invitation"],
    ],
    takes: { "<id>": 'id of the invitation (see "hamlet invite list")' },
    async call({ client }, { id }) {
      await client.revokeInvitation({ invitation_id: id })
      return { json: { id, revoked: true }, plain: id, human: `Revoked ${id}` }
    },
  }),
}
