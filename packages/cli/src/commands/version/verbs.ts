import type { Output } from "@hamlet/contract/client"
import { findTarget, ownVal } from "../../checkout/find-target.ts"
import { defineCommand, type Verbs } from "../../command.ts"
import { findBranch } from "../../names/find-branch.ts"
import { toFullName } from "../../names/find-val.ts"
import { findNamedVersion, findValVersion, toVersionNumber } from "../../names/version-number.ts"
import type { Column } from "../../output/list.ts"
import { confirm, confirmOption, defineCall, listOptions, showList, toPage } from "../../shapes.ts"
import { toSaved } from "../../vals.ts"

const takesVal = { "<val>": "name of the val" } as const
const takesVersion = {
  ...takesVal,
  "[version]": { help: "number of the version", parse: toVersionNumber },
} as const

type VersionChange = Output<"listHistory">["data"][number]

const historyColumns: readonly Column<VersionChange>[] = [
  { title: "version", value: ({ version }) => version, paint: (colour) => colour.bold },
  { title: "saved", value: ({ createdAt }) => createdAt, isTime: true },
  {
    title: "files",
    value: ({ changes, hasMoreChanges }) => `${changes.length}${hasMoreChanges ? "+" : ""}`,
  },
  { title: "note", value: ({ note }) => note },
]

export const verbs: Verbs = {
  list: defineCommand({
    summary: "List the versions of a val",
    description: `Newest first; * marks the current version. With --file or --branch, lists the versions of a branch
and how many files each of them has changed. In the folder of one val, those of its branch.`,
    examples: [
      ["hamlet version list hello", "list the versions of a val"],
      ["hamlet version list blog --file lib/db.ts", "those that have changed a file"],
      ["hamlet version list hello --all --json", "all versions with their code"],
    ],
    takes: {
      "<val>": ownVal,
      "--file <path>": "only those that changed this file",
      "--branch <branch>": "branch of the val (default: main, or that of the folder)",
      ...listOptions,
    },
    async run({ connect, output }, options) {
      const connection = await connect()
      const { val, branchName = "main" } = await findTarget(connection, options.val)
      const { file, branch = branchName } = options
      if (file !== undefined || branch !== "main") {
        const { id } = await findBranch(connection.client, val.id, branch)
        const query = { val_id: val.id, branch_id: id, path: file, ...toPage(options) }
        return showList(output, connection.client.items("listHistory", query), options, {
          empty: "No versions",
          columns: historyColumns,
        })
      }
      const query = { val_id: val.id, ...toPage(options) }
      await showList(output, connection.client.items("listVersions", query), options, {
        empty: "No versions",
        columns: [
          { title: "", value: ({ version }) => (version === val.version ? "*" : "") },
          { title: "version", value: ({ version }) => version, paint: (colour) => colour.bold },
          { title: "saved", value: ({ createdAt }) => createdAt, isTime: true },
          { title: "ran", value: ({ runStartAt }) => runStartAt, isTime: true },
          { title: "lines", value: ({ code }) => code.replace(/\n$/, "").split("\n").length },
          { title: "note", value: ({ note }) => note },
        ],
      })
    },
  }),
  show: defineCommand({
    summary: "Show the code of a version",
    description: "Prints only the code; that of the current version if you pass no number.",
    examples: [
      ["hamlet version show hello 3", "print the code of version 3"],
      ["hamlet version show ada/hello@3 --json", "print the val at version 3"],
    ],
    takes: takesVersion,
    async run({ connect, output }, options) {
      const connection = await connect()
      const { val, version } = await findValVersion(connection, options.val, options.version)
      const shown =
        val.version === version
          ? val
          : await connection.client.getVersion({ val_id: val.id, version })
      if (output.mode === "json") output.json(shown)
      else output.text(shown.code)
    },
  }),
  diff: { summary: "Show the changes between two versions", load: () => import("./diff.ts") },
  restore: defineCall({
    summary: "Restore an old version",
    description:
      "Saves all its files as they were as a new version, so nothing is lost. Fails if the val is saved at the same time.",
    examples: [["hamlet version restore hello 3", "restore the files of version 3"]],
    takes: takesVersion,
    async call(session, options) {
      const { client } = session
      const { val, version } = await findNamedVersion(session, options.val, options.version)
      const saved = await client.restoreFiles(
        { val_id: val.id, version, note: `Restored version ${version}` },
        { ifMatch: val.version },
      )
      // Not the newest one: another save may have come since.
      const restored = await client.getVersion({ val_id: val.id, version: saved.version })
      return toSaved(restored, saved.isNewVersion ? "Saved" : "Nothing differs from")
    },
  }),
  rm: defineCall({
    summary: "Delete a version",
    description:
      "The version can no longer be run or imported, and its number is never reused. This cannot be undone.",
    examples: [
      ["hamlet version rm hello 3", "delete a version after confirmation"],
      ["hamlet version rm hello@3 --yes", "delete it without confirmation"],
    ],
    takes: { ...takesVersion, ...confirmOption },
    async call(session, options) {
      const { val, version } = await findNamedVersion(session, options.val, options.version)
      const name = `${toFullName(val)}@${version}`
      await confirm(`Delete ${name}?`, options)
      await session.client.deleteVersion({ val_id: val.id, version })
      const json = { id: val.id, version, deleted: true }
      return { json, plain: name, human: `Deleted ${name}` }
    },
  }),
}
