import type { Verbs } from "../../command.ts"
import { findWholeVal, type Val } from "../../names/find-val.ts"
import type { Connection } from "../../servers/connection.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"
import { readSecret } from "../../terminal/read-input.ts"

export const verbs: Verbs = {
  set: defineCall({
    summary: "Set a secret",
    description: `Prompts for the value, or reads it from standard input without the trailing newline; it is never an
argument, because other users of this machine can read those. With --host, your vals never see the value:
it is inserted into requests to those hosts only.`,
    examples: [
      ["hamlet secret set API_KEY", "enter the value at a hidden prompt"],
      ["hamlet secret set API_KEY < key.txt", "read the value from a file"],
      ["hamlet secret set API_KEY --host api.example.com", "for requests to one host only"],
      ["hamlet secret set API_KEY --val report", "for one val, instead of the account's"],
    ],
    takes: {
      "<secret>": "name of the secret, such as API_KEY: any text without =",
      "--host <host...>": "use only in requests to these hosts",
      "--val <val>": "a secret of this val alone",
    },
    async call(session, { secret: name, host: hosts, val: valName }) {
      const { client } = session
      const val = await findOptionalVal(session, valName)
      const value = await readSecret(name)
      if (val) await client.putValSecret({ val_id: val.id, name, value, hosts })
      else await client.putSecret({ name, value, hosts })
      return { json: { name, hosts: hosts ?? null }, plain: name, human: `Set ${name}` }
    },
  }),
  list: defineList({
    summary: "List your secrets",
    description: "Prints names only: values cannot be read back.",
    examples: [
      ["hamlet secret list", "list your secrets"],
      ["hamlet secret list --val report", "list the secrets that one val has of its own"],
    ],
    takes: { ...listOptions, "--val <val>": "secrets of this val alone" },
    async items(session, { val: valName }, page) {
      const val = await findOptionalVal(session, valName)
      return val
        ? session.client.items("listValSecrets", { val_id: val.id, ...page })
        : session.client.items("listSecrets", page)
    },
    empty: 'No secrets; create one with "hamlet secret set"',
    columns: [
      { title: "secret", value: ({ name }) => name, paint: (colour) => colour.bold },
      { title: "hosts", value: ({ hosts }) => hosts?.join(",") ?? null },
      { title: "updated", value: ({ updatedAt }) => updatedAt, isTime: true },
    ],
  }),
  rm: defineCall({
    summary: "Delete a secret",
    examples: [
      ["hamlet secret rm API_KEY", "delete a secret after confirmation"],
      ["hamlet secret rm API_KEY --yes", "delete it without confirmation"],
      ["hamlet secret rm API_KEY --val report", "delete a secret of one val"],
    ],
    takes: {
      "<secret>": "name of the secret",
      ...confirmOption,
      "--val <val>": "a secret of this val alone",
    },
    async call(session, { secret: name, val: valName, yes }) {
      const { client } = session
      const val = await findOptionalVal(session, valName)
      await confirm(`Delete the secret ${name}${val ? ` of ${val.name}` : ""}?`, { yes })
      if (val) await client.deleteValSecret({ val_id: val.id, name })
      else await client.deleteSecret({ name })
      return { json: { name, deleted: true }, plain: name, human: `Deleted ${name}` }
    },
  }),
}

async function findOptionalVal(
  connection: Connection,
  name: string | undefined,
): Promise<Val | undefined> {
  return name === undefined ? undefined : findWholeVal(connection, name)
}
