import {
  branchName,
  fileContent,
  filePath,
  fileType,
  limits,
  text,
  valType,
} from "@hamlet/contract"
import type { Output } from "@hamlet/contract/client"
import { z } from "zod"
import { applyEdit, assertOneEdit, editArguments } from "../edit-arguments.ts"
import { type ApiBranch, branchArgument, findNamedBranch } from "../find-branch.ts"
import { findValId, valArgument } from "../find-val.ts"
import { toTextPage } from "../text-pages.ts"
import { defineTool, type ToolContext, ToolError, toolLimits } from "../tool.ts"

const pathArgument = filePath.describe("From the root of the val, such as lib/db.ts")
const versionArgument = z
  .int()
  .min(0)
  .describe("The version of the branch that you have read; list_files and read_file return it")
const typeArgument = z
  .enum(["file", ...valType.options])
  .optional()
  .describe(
    "http, interval or email: what starts it; script: code; file: anything else. By default, code is a script",
  )

const listed = z.object({
  path: z.string(),
  type: fileType,
  version: z.int().describe("The version in which it last changed"),
  endpoint: z.string().nullable().describe("The web address of a file of type http"),
})

const saved = z.object({
  branch: z.string(),
  version: z.int().describe("The version of the branch now"),
  isUnchanged: z.boolean().describe("Whether all was the same, so that nothing was saved"),
  files: z.array(listed).describe("What was written, at most 100"),
  totalFiles: z.int(),
})

function toListed(file: Output<"getFile">): z.infer<typeof listed> {
  const { path, type, version, links } = file
  return { path, type, version, endpoint: links.endpoint ?? null }
}

const listFiles = defineTool({
  name: "list_files",
  title: "List the files of a val",
  description:
    "Lists the files and directories of a val by path, without their content. Returns the version of the branch, which edit_file and write_files need. Pass nextOffset as offset, and the version, to get the next page.",
  scopes: ["val:read"],
  effect: "read",
  input: z.object({
    val: valArgument,
    branch: branchArgument,
    path: filePath.optional().describe("Only this directory and what it contains"),
    version: z.int().min(0).optional().describe("An older version; without it the newest"),
    limit: z.int().min(1).max(100).default(100).describe("How many at most"),
    offset: z.int().min(0).max(10_000).default(0).describe("nextOffset of the page before"),
  }),
  output: z.object({
    branch: z.string(),
    version: z.int(),
    files: z.array(listed),
    nextOffset: z.int().nullable().describe("Pass it as offset; null on the last page"),
  }),
  async run(context, { val, branch: named, path = "", version: wanted, limit, offset }) {
    const { valId, branch } = await findNamedBranch(context, val, named)
    const version = Math.min(wanted ?? branch.version, branch.version)
    const { data, links } = await context.client.listFiles({
      val_id: valId,
      branch_id: branch.id,
      path,
      recursive: true,
      version,
      limit,
      offset,
    })
    const nextOffset = links.next === undefined ? null : offset + data.length
    return { data: { branch: branch.name, version, files: data.map(toListed), nextOffset } }
  },
})

const readFile = defineTool({
  name: "read_file",
  title: "Read a file of a val",
  description:
    "Returns the content of a file, and the version of the branch, which edit_file and write_files need. Long files come in pages: pass nextLine as fromLine to get the next.",
  scopes: ["val:read"],
  effect: "read",
  input: z.object({
    val: valArgument,
    path: pathArgument,
    branch: branchArgument,
    version: z.int().min(0).optional().describe("An older version; without it the newest"),
    fromLine: z.int().min(1).default(1).describe("The first line to return"),
    lines: z.int().min(1).max(10_000).default(10_000).describe("How many lines at most"),
  }),
  output: z.object({
    branch: z.string(),
    version: z.int(),
    path: z.string(),
    content: z.string(),
    fromLine: z.int(),
    toLine: z.int(),
    totalLines: z.int(),
    nextLine: z.int().nullable().describe("Pass it as fromLine; null if the file ends here"),
    isLineTruncated: z.boolean().describe("Whether a line was too long and lacks its end"),
  }),
  async run(context, { val, path, branch: named, version: wanted, fromLine, lines }) {
    const { valId, branch } = await findNamedBranch(context, val, named)
    const version = Math.min(wanted ?? branch.version, branch.version)
    const whole = await readContent(context, valId, branch, path, version)
    const { text: content, ...page } = toTextPage(whole, fromLine, lines, toolLimits.textCharsMax)
    const next = page.nextLine === null ? "" : `; continue with fromLine ${page.nextLine}`
    const head = `${path}, version ${version} of ${branch.name}, lines ${page.fromLine} to ${page.toLine} of ${page.totalLines}${next}`
    return {
      data: { branch: branch.name, version, path, content, ...page },
      text: `${head}\n\n${content}`,
    }
  },
})

async function readContent(
  { client }: ToolContext,
  valId: string,
  branch: ApiBranch,
  path: string,
  version: number,
): Promise<string> {
  const input = { val_id: valId, branch_id: branch.id, path, version }
  return (await client.getFileContent(input)).text()
}

const createFile = defineTool({
  name: "create_file",
  title: "Create a file in a val",
  description:
    "Adds a file to one of your vals, in a new version, with the directories that it is in. It is refused if there is something at the path.",
  scopes: ["val:read", "val:write"],
  effect: "write",
  input: z.object({
    val: valArgument,
    path: pathArgument,
    content: fileContent.describe("Its text"),
    type: typeArgument,
    branch: branchArgument,
  }),
  output: listed.extend({ branch: z.string() }),
  async run(context, { val, path, content, type, branch: named }) {
    const { valId, branch } = await findNamedBranch(context, val, named)
    const isCode = /\.[tj]sx?$/.test(path)
    const file = await context.client.createFile({
      val_id: valId,
      branch_id: branch.id,
      path,
      type: type ?? (isCode ? "script" : "file"),
      content,
    })
    return { data: { branch: branch.name, ...toListed(file) } }
  },
})

const editFile = defineTool({
  name: "edit_file",
  title: "Edit a file of a val",
  description:
    "Changes one file of one of your vals, in a new version. Pass the version that read_file returned, and one of: edits (exact replacements, the safest way), diff (a unified diff), content (all of the new text). It is refused if the branch has a newer version, so that no change of others is lost.",
  scopes: ["val:read", "val:write"],
  effect: "destroy",
  input: z.object({
    val: valArgument,
    path: pathArgument,
    branch: branchArgument,
    version: versionArgument,
    ...editArguments,
    content: fileContent.optional().describe("The whole new text"),
  }),
  output: saved,
  async run(context, { val, path, branch: named, version, edits, diff, content }) {
    const edit = { edits, diff, whole: { name: "content", text: content } }
    assertOneEdit("file", edit)
    const found = await findNamedBranch(context, val, named)
    assertRead(found.branch, version)
    const before = await readContent(context, found.valId, found.branch, path, version)
    return save(context, found, version, { changes: [{ path, content: applyEdit(before, edit) }] })
  },
})

const change = z
  .union([
    z.object({
      path: pathArgument,
      delete: z.literal(true).describe("Deletes the file, or the directory with its contents"),
    }),
    z.object({
      path: pathArgument,
      newPath: filePath.describe("Where it moves"),
      type: typeArgument,
      content: fileContent.optional().describe("Its new text"),
    }),
    z.object({ path: pathArgument, type: typeArgument, content: fileContent.describe("Its text") }),
  ])
  .describe("Write a file (path, content), move one (path, newPath), or delete one (path, delete)")

const writeFiles = defineTool({
  name: "write_files",
  title: "Write many files of a val",
  description:
    "Writes, moves and deletes files of one of your vals in one new version, all or none. Pass the version that list_files or read_file returned: it is refused if the branch has a newer one, so that no change of others is lost.",
  scopes: ["val:read", "val:write"],
  effect: "destroy",
  input: z.object({
    val: valArgument,
    branch: branchArgument,
    version: versionArgument,
    changes: z
      .array(change)
      .min(1)
      .max(limits.fileChangesMax)
      .describe("Applied in this order; a later one sees the earlier ones"),
    note: text(limits.noteCharsMax).optional().describe("What the version is about"),
  }),
  output: saved,
  async run(context, { val, branch: named, version, changes, note }) {
    const found = await findNamedBranch(context, val, named)
    assertRead(found.branch, version)
    return save(context, found, version, { changes, note })
  },
})

/** Throws when the assistant has read another version than the newest. */
function assertRead(branch: ApiBranch, version: number): void {
  if (branch.version !== version)
    throw new ToolError(
      `Cannot save files: you have read version ${version}, and branch ${branch.name} has version ${branch.version} now. Read the files again`,
    )
}

async function save(
  { client }: ToolContext,
  { valId, branch }: Awaited<ReturnType<typeof findNamedBranch>>,
  ifMatch: number,
  body: Omit<Parameters<typeof client.changeFiles>[0], "val_id" | "branch_id">,
) {
  const { version, isNewVersion, files } = await client.changeFiles(
    { val_id: valId, branch_id: branch.id, ...body },
    { ifMatch },
  )
  return {
    data: {
      branch: branch.name,
      version,
      isUnchanged: !isNewVersion,
      files: files.slice(0, 100).map(toListed),
      totalFiles: files.length,
    },
  }
}

const shownBranch = z.object({
  branch: z.string().describe("Its name"),
  version: z.int().describe("Its newest version"),
  updatedAt: z.string(),
})

function toShown({ name, version, updatedAt }: ApiBranch): z.infer<typeof shownBranch> {
  return { branch: name, version, updatedAt }
}

const listBranches = defineTool({
  name: "list_branches",
  title: "List the branches of a val",
  description: "Lists the branches of a val, main first. Files, versions and runs are of a branch.",
  scopes: ["val:read"],
  effect: "read",
  input: z.object({ val: valArgument }),
  output: z.object({ branches: z.array(shownBranch) }),
  async run(context, { val }) {
    const val_id = await findValId(context, val)
    const limit = limits.branchesPerValMax
    const { data } = await context.client.listBranches({ val_id, limit })
    return { data: { branches: data.map(toShown) } }
  },
})

const createBranch = defineTool({
  name: "create_branch",
  title: "Create a branch of a val",
  description:
    "Makes a branch of one of your vals with a copy of the newest files of another, to try changes without touching main.",
  scopes: ["val:read", "val:write"],
  effect: "write",
  input: z.object({
    val: valArgument,
    name: branchName.describe("Letters, digits and $ [ ] ( ) - _ ."),
    from: branchArgument,
  }),
  output: shownBranch,
  async run(context, { val, name, from }) {
    const { valId, branch } = await findNamedBranch(context, val, from)
    const input = { val_id: valId, name, branchId: branch.id }
    return { data: toShown(await context.client.createBranch(input)) }
  },
})

/** The files of vals, on any branch. */
export const fileTools = [
  listFiles,
  readFile,
  createFile,
  editFile,
  writeFiles,
  listBranches,
  createBranch,
]
