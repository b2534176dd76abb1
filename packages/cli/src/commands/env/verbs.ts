import { unlessMissing } from "@hamlet/contract/client"
import { findTarget, ownVal } from "../../checkout/find-target.ts"
import type { Verbs } from "../../command.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"
import { readSecret } from "../../terminal/read-input.ts"

const takesVal = { "<val>": ownVal } as const

/** The secrets of one val, under the name and with the rules that clients of files know. */
export const verbs: Verbs = {
  list: defineList({
    summary: "List the environment variables of a val",
    description: "Prints names only: values cannot be read back.",
    examples: [["hamlet env list blog", "list the variables of a val"]],
    takes: { ...takesVal, ...listOptions },
    async items(session, { val: text }, page) {
      const { val } = await findTarget(session, text)
      return session.client.items("listEnvironmentVariables", { val_id: val.id, ...page })
    },
    empty: 'No variables; set one with "hamlet env set"',
    columns: [
      { title: "key", value: ({ key }) => key, paint: (colour) => colour.bold },
      { title: "description", value: ({ description }) => description },
      {
        title: "updated",
        value: ({ updatedAt, createdAt }) => updatedAt ?? createdAt,
        isTime: true,
      },
    ],
  }),
  set: defineCall({
    summary: "Set an environment variable of a val",
    description: `Prompts for the value, or reads it from standard input without the trailing newline; it is never an
argument, because other users of this machine can read those. All branches of the val see it.`,
    examples: [
      ["hamlet env set blog API_KEY", "enter the value at a hidden prompt"],
      ["hamlet env set . API_KEY < key.txt", "read the value from a file"],
    ],
    takes: {
      ...takesVal,
      "<key>": "name of the variable",
      "--description <text>": "what it is for",
    },
    async call(session, { val: text, key, description }) {
      const { client } = session
      const { val } = await findTarget(session, text)
      const value = await readSecret(key)
      const input = { val_id: val.id, value, description }
      const put = client.putEnvironmentVariable({ ...input, variable: key })
      const variable =
        (await unlessMissing(put, "secret_not_found")) ??
        (await client.createEnvironmentVariable({ ...input, key }))
      return { json: variable, plain: key, human: `Set ${key}` }
    },
  }),
  delete: defineCall({
    summary: "Delete an environment variable of a val",
    examples: [
      ["hamlet env delete blog API_KEY", "delete a variable after confirmation"],
      ["hamlet env delete blog API_KEY --yes", "delete it without confirmation"],
    ],
    takes: { ...takesVal, "<key>": "name of the variable", ...confirmOption },
    async call(session, { val: text, key, yes }) {
      const { val } = await findTarget(session, text)
      await confirm(`Delete the variable ${key} of ${val.name}?`, { yes })
      await session.client.deleteEnvironmentVariable({ val_id: val.id, variable: key })
      return { json: { key, deleted: true }, plain: key, human: `Deleted ${key}` }
    },
  }),
}
