import { CliError } from "../../cli-error.ts"
import type { Verbs } from "../../command.ts"
import { defineCall, defineList, listOptions } from "../../shapes.ts"

export const verbs: Verbs = {
  list: defineList({
    summary: "List sessions",
    description: "Latest sign-in first.",
    examples: [["hamlet session list", "list your browser sessions"]],
    takes: listOptions,
    items: ({ client }, _, page) => client.items("listSessions", page),
    empty: "No browser sessions",
    columns: [
      { title: "browser", value: ({ userAgent }) => userAgent },
      { title: "since", value: ({ createdAt }) => createdAt, isTime: true },
      { title: "used", value: ({ lastUsedAt }) => lastUsedAt, isTime: true },
      { title: "until", value: ({ expiresAt }) => expiresAt },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  }),
  revoke: defineCall({
    summary: "Sign out one browser or all of them",
    description: "--all also revokes unused sign-in links.",
    examples: [
      ["hamlet session revoke 01890000-0000-7000-8000-000000000000", "sign out one browser"],
      ["hamlet session revoke --all", "sign out everywhere"],
    ],
    takes: {
      "[id]": 'id of the session (see "hamlet session list")',
      "--all": "sign out all browsers",
    },
    check({ id, all }) {
      if ((id === undefined) !== (all === true))
        throw new CliError("usage", "Cannot sign out: pass either the id of a session or --all", {
          advice: 'see "hamlet session list"',
        })
    },
    async call({ client }, { id }) {
      if (id === undefined) await client.deleteAllSessions()
      else await client.deleteSession({ session_id: id })
      return {
        json: { id: id ?? null, revoked: true },
        plain: id ?? "all",
        human: id === undefined ? "Signed out everywhere" : `Signed out ${id}`,
      }
    },
  }),
}
