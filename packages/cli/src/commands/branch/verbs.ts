import { findTarget, findTargetBranch, ownVal } from "../../checkout/find-target.ts"
import { defineCommand, type Verbs } from "../../command.ts"
import { findBranch } from "../../names/find-branch.ts"
import { toFullName } from "../../names/find-val.ts"
import { toVersionNumber } from "../../names/version-number.ts"
import { printDiff } from "../../output/print-diff.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"

const isReadable = "Those who can open the val can read it"
const takesBranch = { "<val>": ownVal, "<branch>": "name of the branch" } as const

export const verbs: Verbs = {
  list: defineList({
    summary: "List the branches of a val",
    examples: [
      ["hamlet branch list blog", "list the branches of a val"],
      ["hamlet branch list .", "those of the val whose folder you are in"],
    ],
    takes: { "<val>": ownVal, ...listOptions },
    async items(session, { val: text }, page) {
      const { val } = await findTarget(session, text)
      return session.client.items("listBranches", { val_id: val.id, ...page })
    },
    empty: "No branches",
    columns: [
      { title: "branch", value: ({ name }) => name, paint: (colour) => colour.bold },
      { title: "version", value: ({ version }) => version },
      { title: "updated", value: ({ updatedAt }) => updatedAt, isTime: true },
      { title: "id", value: ({ id }) => id, isWhole: true },
    ],
  }),
  create: defineCall({
    summary: "Create a branch",
    description: `It begins with the newest files of another branch, by default of main, or of the branch of the
folder you are in. Those who can open the val can read it.`,
    examples: [
      ["hamlet branch create blog draft", "a branch with the files of main"],
      ["hamlet branch create . try --from draft", "with the files of another branch"],
    ],
    takes: { ...takesBranch, "--from <branch>": "branch to copy the files of" },
    async call(session, { val: text, branch: name, from }) {
      const { val, branch: source } = await findTargetBranch(session, text, from)
      const input = { val_id: val.id, name, branchId: source.id }
      const branch = await session.client.createBranch(input)
      const human = `Created branch ${branch.name} of ${toFullName(val)} from ${source.name}`
      const readers = val.privacy === "private" ? "" : `\n  ${isReadable}`
      return {
        json: branch,
        plain: branch.name,
        human: `${human}\n  ${branch.links.html}${readers}`,
      }
    },
  }),
  switch: {
    summary: "Change the folder of a val to another branch",
    load: () => import("./switch.ts"),
  },
  merge: { summary: "Merge a branch into its parent", load: () => import("./merge.ts") },
  delete: defineCall({
    summary: "Delete a branch",
    description: "Deletes its versions and files too. This cannot be undone.",
    examples: [
      ["hamlet branch delete blog draft", "delete a branch after confirmation"],
      ["hamlet branch delete blog draft --yes", "delete it without confirmation"],
    ],
    takes: { ...takesBranch, ...confirmOption },
    async call(session, { val: text, branch: name, yes }) {
      const { val } = await findTarget(session, text)
      const branch = await findBranch(session.client, val.id, name)
      await confirm(`Delete branch ${name} of ${toFullName(val)} with all its versions?`, { yes })
      await session.client.deleteBranch({ val_id: val.id, branch_id: branch.id })
      return { json: { id: branch.id, name, deleted: true }, plain: name, human: `Deleted ${name}` }
    },
  }),
  diff: defineCommand({
    summary: "Show what has changed on a branch",
    description: `Compares the files of a branch with those that it began with, or that one of its versions had, as a
unified diff.`,
    examples: [
      ["hamlet branch diff blog draft", "changes since the branch was created"],
      ["hamlet branch diff blog main --since 12", "changes of main since its version 12"],
    ],
    takes: {
      ...takesBranch,
      "--since <version>": {
        help: "version of the branch to compare with",
        parse: toVersionNumber,
      },
    },
    async run({ connect, output }, { val: text, branch: name, since }) {
      const connection = await connect()
      const { val } = await findTarget(connection, text)
      const branch = await findBranch(connection.client, val.id, name)
      const ids = { val_id: val.id, branch_id: branch.id }
      const files = connection.client.items("getBranchDifference", { ...ids, version: since })
      for await (const { path, newPath, before, after } of files)
        printDiff(output, { path, newPath: newPath ?? path, before, after })
    },
  }),
}
