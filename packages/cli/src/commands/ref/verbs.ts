import { CliError } from "../../cli-error.ts"
import type { Verbs } from "../../command.ts"
import { findWholeVal, toFullName } from "../../names/find-val.ts"
import { defineList, listOptions } from "../../shapes.ts"

export const verbs: Verbs = {
  list: defineList({
    summary: "List the vals that import your vals",
    description: "Each line shows a val and a val that it imports.",
    examples: [
      ["hamlet ref list", "vals that import yours"],
      ["hamlet ref list ada/hello", "vals that import this one"],
      ["hamlet ref list hello --dependencies", "vals that this one imports"],
    ],
    takes: {
      "[val]": "only references to this val",
      "--dependencies": "list the vals it imports instead",
      ...listOptions,
    },
    async items(session, { val, dependencies }, page) {
      const { client } = session
      if (val === undefined && dependencies)
        throw new CliError("usage", "Cannot list dependencies without a val", {
          advice: "name a val",
        })
      if (val === undefined) return client.items("listMyReferences", page)
      const { id } = await findWholeVal(session, val)
      const name = dependencies ? "listValDependencies" : "listValReferences"
      return client.items(name, { val_id: id, ...page })
    },
    empty: "No references",
    columns: [
      {
        title: "val",
        value: ({ reference }) => toFullName(reference),
        paint: (colour) => colour.bold,
      },
      { title: "imports", value: ({ dependsOn }) => toFullName(dependsOn) },
      { title: "since", value: ({ referencedAt }) => referencedAt, isTime: true },
    ],
  }),
}
