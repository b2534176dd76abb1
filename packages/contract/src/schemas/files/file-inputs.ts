import { z } from "zod"
import { findPathProblem, segmentPattern } from "../../files/file-paths.ts"
import { limits } from "../../limits.ts"
import { type Cursor, cursorParam } from "../cursor.ts"
import {
  booleanParam,
  description,
  idParam,
  moment,
  privacy,
  text,
  valName,
  valType,
  versionNumber,
} from "../fields.ts"
import { pageQuery } from "../inputs.ts"
import { chars, list } from "../lengths.ts"

/** The path of a file or directory. */
export const filePath = chars(limits.filePathCharsMax, 1).superRefine((path, context) => {
  addPathIssue(path, context)
})

/** The path of a file or directory; empty for the root. */
const pathOrRoot = chars(limits.filePathCharsMax).superRefine((path, context) => {
  if (path !== "") addPathIssue(path, context)
})

/** The message names the path: a request may have a thousand of them. */
function addPathIssue(path: string, context: z.RefinementCtx): void {
  const problem = findPathProblem(path)
  if (problem === undefined) return
  const shown = path.length > shownCharsMax ? `${path.slice(0, shownCharsMax)}…` : path
  context.addIssue({ code: "custom", message: `${problem}, but is ${JSON.stringify(shown)}` })
}

const shownCharsMax = 100

/** The text of a file. NUL and lone surrogates have an error code of their own. */
export const fileContent = chars(limits.codeCharsMax)
const content = fileContent
const contentType = z.enum(["file", ...valType.options])
const branchParam = { branch_id: idParam.optional() }
const versionParam = versionNumber.optional()
const recursiveParam = booleanParam.default(false)

/** The body of a val without files. */
export const createFolderBody = z.object({
  name: valName,
  privacy,
  description: description.optional(),
  orgId: idParam.optional(),
})

/**
 * The query of a list of vals whose cursor may also be a time: the items that were created before it.
 */
export const foldersQuery = pageQuery.extend({
  cursor: chars(limits.cursorCharsMax, 1)
    .transform(parseCursorOrTime)
    .optional()
    .meta({ wire: { type: "string", minLength: 1, maxLength: limits.cursorCharsMax } }),
  privacy: privacy.optional(),
  user_id: idParam.optional(),
})

function parseCursorOrTime(value: string, context: z.RefinementCtx): Cursor {
  const text = (/^https?:/i.test(value) && URL.parse(value)?.searchParams.get("cursor")) || value
  const time = /^\d{4}-/.test(text) ? moment.safeParse(text) : undefined
  // Before all ids of that time, so that an item of the same millisecond is left out.
  if (time?.success) return { keys: [time.data, "00000000-0000-0000-0000-000000000000"] }
  const cursor = cursorParam.safeParse(text)
  if (cursor.success) return cursor.data
  const message = "must be the cursor of a link to a next page, or a time"
  context.addIssue({ code: "custom", message })
  return { keys: [] }
}

/** The name of a branch. */
export const branchName = chars(limits.branchNameCharsMax, 1)
  .regex(segmentPattern, "must contain only letters, digits and $ [ ] ( ) - _ .")
  .refine((name) => name !== "." && name !== "..", "must not be . or ..")

/** The body of a branch; without a source it begins with the files of `main`. */
export const createBranchBody = z.object({
  name: branchName,
  branchId: idParam.optional(),
})

/**
 * What a branch is compared with: another branch, or a version. By default what it last had in common
 * with its parent.
 */
export const differenceQuery = z.object({
  version: versionParam.describe("Of the other branch if there is one, else of this branch"),
  other_branch_id: idParam.optional().describe("By default its newest version"),
  cursor: cursorParam.optional(),
})

/** Which file is meant, to create or change it. */
export const fileQuery = z.object({ path: filePath, ...branchParam })

/** Which file or directory is deleted; the empty path is the root. */
export const deleteFileQuery = z.object({
  path: pathOrRoot,
  recursive: recursiveParam,
  ...branchParam,
})

/** The query of a list that does not change while it is read. */
export const offsetQuery = z.object({
  limit: pageQuery.shape.limit,
  offset: pageQuery.shape.offset,
})

/** The query of a list of files. A version above the newest means the newest. */
export const filesQuery = offsetQuery.extend({
  path: pathOrRoot,
  recursive: recursiveParam,
  version: versionParam,
  ...branchParam,
})

/** Which content is read. */
export const fileContentQuery = z.object({
  path: pathOrRoot,
  version: versionParam,
  ...branchParam,
})

/** The body of a new file or directory. */
export const createFileBody = z.discriminatedUnion("type", [
  z.object({ type: z.literal("directory"), content: z.null().optional() }),
  z.object({ type: contentType, content }),
])

/** The body of a change to a file. What is absent stays; `parent_path` null is the root. */
export const updateFileBody = z.object({
  content: content.optional(),
  type: contentType.optional(),
  name: filePath.refine((name) => !name.includes("/"), "must be a name without slashes").optional(),
  parent_path: pathOrRoot.nullable().optional(),
})

const putChange = z.object({ path: filePath, type: contentType.optional(), content })
const directoryChange = z.object({
  path: filePath,
  type: z.literal("directory"),
  content: z.null().optional(),
})
const moveChange = z.object({
  path: filePath,
  newPath: filePath,
  type: contentType.optional(),
  content: content.optional(),
})
const deleteChange = z.object({ path: pathOrRoot, delete: z.literal(true) })

/** The query of a save of several files. */
export const changeFilesQuery = z.object(branchParam)

/** The body of a save of several files: the changes are applied in order, all or none. */
export const changeFilesBody = z.object({
  changes: list(
    z.union([deleteChange, moveChange, directoryChange, putChange]),
    limits.fileChangesMax,
    1,
  ),
  note: text(limits.noteCharsMax).optional(),
  /** The files come from elsewhere: new schedules wait for their first due time. */
  isImport: z.boolean().optional(),
})

/** Which versions are listed: all of a branch, or those that changed a path. */
export const historyQuery = pageQuery.extend({ path: filePath.optional(), ...branchParam })

/** The branch whose files become those of an earlier version. */
export const restoreQuery = z.object(branchParam)

/** What is restored: a file, what a directory contains, or everything. */
export const restoreBody = z.object({
  path: filePath.optional(),
  note: text(limits.noteCharsMax).optional(),
})

/** The branch whose version is noted. */
export const noteQuery = z.object(branchParam)

/** What is said about a version; null for nothing. */
export const noteBody = z.object({ note: text(limits.noteCharsMax).nullable() })

/**
 * The body of a merge. What is resolved holds whatever the two branches have at the path. A dry run
 * responds as the merge would, and changes nothing.
 */
export const mergeBranchBody = z.object({
  dryRun: z.boolean().default(false),
  into: z.enum(["parent", "branch"]).default("parent"),
  resolved: list(
    z.union([
      z.object({ path: filePath, delete: z.literal(true) }),
      z.object({ path: filePath, content }),
    ]),
    limits.fileChangesMax,
  ).default([]),
  note: text(limits.noteCharsMax).optional(),
  sourceVersion: z.int().min(0).max(limits.versionMax).optional(),
})
