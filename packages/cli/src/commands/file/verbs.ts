import type { Output } from "@hamlet/contract/client"
import { fileTypes } from "@hamlet/contract/lists"
import { findTargetBranch, isOwnPath, ownVal } from "../../checkout/find-target.ts"
import { createFetchText } from "../../checkout/remote-tree.ts"
import { defineCommand, type Verbs } from "../../command.ts"
import { toFullName } from "../../names/find-val.ts"
import { toVersionNumber } from "../../names/version-number.ts"
import { confirm, confirmOption, defineCall, defineList, listOptions } from "../../shapes.ts"

const takesVal = { "<val>": ownVal } as const
const branchOption = {
  "-b, --branch <branch>": "branch of the val (default: main, or that of the folder)",
} as const
const versionOption = {
  "--version <version>": { help: "as they were in this version", parse: toVersionNumber },
} as const
const noteOption = { "-m, --message <text>": "note for the version" } as const

export const verbs: Verbs = {
  list: defineList({
    summary: "List the files of a val",
    examples: [
      ["hamlet file list blog", "all files of a val"],
      ["hamlet file list blog --path lib --branch draft", "what a folder has on a branch"],
    ],
    takes: {
      ...takesVal,
      "--path <path>": { help: "only the files in this folder", default: "" },
      ...branchOption,
      ...versionOption,
      ...listOptions,
    },
    async items(session, { val: text, path, branch: name, version }, page) {
      const { val, branch, client } = await findTargetBranch(session, text, name)
      const query = { val_id: val.id, branch_id: branch.id, path, version, recursive: true }
      return client.items("listFiles", { ...query, ...page })
    },
    empty: "No files",
    columns: [
      { title: "path", value: ({ path }) => path, paint: (colour) => colour.bold, isWhole: true },
      { title: "type", value: ({ type }) => type },
      { title: "version", value: ({ version }) => version },
      { title: "updated", value: ({ updatedAt }) => updatedAt, isTime: true },
      { title: "address", value: ({ links }) => findAddress(links) ?? null },
    ],
  }),
  cat: defineCommand({
    summary: "Print a file of a val",
    examples: [
      ["hamlet file cat blog lib/db.ts", "print a file"],
      ["hamlet file cat ada/blog main.tsx --version 3 > main.tsx", "save it as it was"],
    ],
    takes: { ...takesVal, "<path>": "path of the file", ...branchOption, ...versionOption },
    async run({ connect, output }, { val: text, path, branch: name, version }) {
      const { val, branch, client } = await findTargetBranch(await connect(), text, name)
      const content = await createFetchText(
        client,
        { val, branch },
        version ?? branch.version,
      )(path)
      if (output.mode === "json") output.json({ path, content })
      else output.text(content)
    },
  }),
  rm: defineCall({
    summary: "Delete files of a val",
    description:
      "Deletes files, and folders with all that is in them, in one version. Older versions keep them.",
    examples: [
      ["hamlet file rm blog old.ts drafts --yes", "delete a file and a folder"],
      ["hamlet file rm old.ts", "the same, in the folder of the val"],
    ],
    takes: {
      ...takesVal,
      "<paths...>": "paths of files or folders",
      ...branchOption,
      ...noteOption,
      ...confirmOption,
    },
    async call(session, { val: first, paths: others, branch: name, message, yes }) {
      // In the folder of one val, its files need no name of the val.
      const isPath = isOwnPath(first)
      const [text, paths] = isPath ? [".", [first, ...others]] : [first, others]
      const { val, branch, client } = await findTargetBranch(session, text, name)
      await confirm(`Delete ${paths.join(", ")} of ${toFullName(val)}?`, { yes })
      const changes = paths.map((path) => ({ path, delete: true }) as const)
      const ids = { val_id: val.id, branch_id: branch.id }
      const saved = await client.changeFiles({ ...ids, changes, note: message })
      const plain = `${toFullName(val)}@${saved.version}`
      return { json: saved, plain, human: `Deleted ${paths.join(", ")}  ${plain}` }
    },
  }),
  mv: defineCall({
    summary: "Rename or move a file of a val",
    description: "A file keeps its addresses, its schedule and its runs. Folders can be moved too.",
    examples: [["hamlet file mv blog db.ts lib/db.ts", "move a file into a folder"]],
    takes: {
      ...takesVal,
      "<path>": "path of the file",
      "<new-path>": "new path",
      ...branchOption,
      ...noteOption,
    },
    async call(session, { val: text, path, newPath, branch: name, message }) {
      const { val, branch, client } = await findTargetBranch(session, text, name)
      const ids = { val_id: val.id, branch_id: branch.id }
      const changes = [{ path, newPath }]
      const saved = await client.changeFiles({ ...ids, changes, note: message })
      const plain = `${toFullName(val)}@${saved.version}`
      return { json: saved, plain, human: `Moved ${path} to ${newPath}  ${plain}` }
    },
  }),
  type: defineCall({
    summary: "Change how a file of a val is started",
    description: `A file of type http has a web address, one of type interval a schedule, and one of type email a mail
address.`,
    examples: [["hamlet file type blog feed.ts http", "give a file a web address"]],
    takes: {
      ...takesVal,
      "<path>": "path of the file",
      "<type>": {
        help: "type of the file",
        choices: fileTypes.filter((one) => one !== "directory"),
      },
      ...branchOption,
    },
    async call(session, { val: text, path, type, branch: name }) {
      const { val, branch, client } = await findTargetBranch(session, text, name)
      const query = { val_id: val.id, branch_id: branch.id, path }
      const file = await client.updateFile({ ...query, type })
      const address = findAddress(file.links)
      const human = `${path} is of type ${file.type}`
      return { json: file, plain: file.type, human: address ? `${human}\n  ${address}` : human }
    },
  }),
}

/** The address that is easiest to read, of those that a file has. */
function findAddress(links: Output<"getFile">["links"]): string | undefined {
  return links.alias ?? links.endpoint ?? links.email
}
