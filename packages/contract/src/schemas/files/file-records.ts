import { z } from "zod"
import { fileType, id, privacy, time, url, username, valName } from "../fields.ts"
import { author } from "../records.ts"

/** A val without its files, which belong to its branches. */
export const folder = z
  .object({
    id,
    name: valName,
    description: z.string().nullable(),
    imageUrl: z.string().nullable(),
    privacy,
    createdAt: time,
    author: z.object({ id, type: z.enum(["user", "org"]), username: username.nullable() }),
    links: z.object({ self: url, html: url }),
  })
  .meta({ id: "Folder" })

/** A line of versions of a val. */
export const branch = z
  .object({
    id,
    name: z.string(),
    // The number of its newest version.
    version: z.int().min(0),
    createdAt: time,
    updatedAt: time,
    // The branch it was made from; null for `main`, and if that was deleted.
    forkedBranchId: id.nullable(),
    links: z.object({ self: url, html: url }),
  })
  .meta({ id: "Branch" })

/** A file or directory of a branch, without its content. */
export const file = z
  .object({
    // Stays the same when the file is edited or moved.
    id,
    name: z.string(),
    path: z.string(),
    type: fileType,
    // The version of the branch in which the file last changed.
    version: z.int().min(0),
    updatedAt: time,
    links: z.object({
      self: url,
      html: url,
      // The address of the module names version and branch.
      module: url,
      // A file of type `http` has an endpoint.
      endpoint: url.optional(),
      // The readable address, made of the names of user and val, if the file has it.
      alias: url.optional(),
      // A file of type `email` has an address on a server that receives mail.
      email: z.string().optional(),
    }),
  })
  .meta({ id: "File" })

/** A file that differs between two versions of a branch; its texts are null where it does not exist. */
export const fileDifference = z
  .object({
    path: z.string(),
    // Only a file that was moved has a new path.
    newPath: z.string().nullable(),
    kind: z.enum(["added", "changed", "moved", "deleted"]),
    before: z.string().nullable(),
    after: z.string().nullable(),
  })
  .meta({ id: "FileDifference" })

/** What is wrong with what was saved, as sentences, such as a deno.json that is not valid JSON. */
const warnings = z.array(z.string())

/** The schedule that a save gives a file which becomes one of type interval. */
export const addedSchedule = z
  .object({
    fileId: id,
    // One of the two is null.
    cron: z.string().nullable(),
    every: z.string().nullable(),
    timeZone: z.string(),
    isPaused: z.boolean(),
    // A sentence; null if it is not paused, or because it is on a branch.
    pausedReason: z.string().nullable(),
    // When it runs first; null while it is paused.
    nextAt: time.nullable(),
  })
  .meta({ id: "AddedSchedule" })

/** A file that was saved. */
export const savedFile = file
  .extend({
    // Only if the save has added it.
    schedule: addedSchedule.optional(),
    // Only if there are any.
    warnings: warnings.optional(),
  })
  .meta({ id: "SavedFile" })

/** The result of a save of several files. */
export const savedFiles = z
  .object({
    version: z.int().min(0),
    // False if nothing has changed.
    isNewVersion: z.boolean(),
    // The files and directories that were written.
    files: z.array(file),
    // The schedules of files that have become intervals.
    schedules: z.array(addedSchedule),
    warnings,
  })
  .meta({ id: "SavedFiles" })

/** The result of a merge or of a return to an earlier version. */
export const savedVersion = z
  .object({
    // The newest version of the branch that was changed.
    version: z.int().min(0),
    // False if nothing has changed.
    isNewVersion: z.boolean(),
  })
  .meta({ id: "SavedVersion" })

/** A version of a branch, and which paths it has changed. */
export const versionChange = z
  .object({
    version: z.int().min(0),
    createdAt: time,
    note: z.string().nullable(),
    author: author
      .nullable()
      .describe("The person who saved it; null if that is not known, or the account was deleted"),
    // The first ones by path, without directories.
    changes: z.array(
      z.object({
        path: z.string(),
        kind: z.enum(["added", "changed", "moved", "deleted"]),
        // Where a file was that was moved.
        oldPath: z.string().nullable(),
      }),
    ),
    hasMoreChanges: z.boolean(),
  })
  .meta({ id: "VersionChange" })

/** A user of an organisation. */
export const membership = z
  .object({
    id,
    role: z.enum(["owner", "member"]).nullable(),
    user: z.object({ id, username: username.nullable() }),
  })
  .meta({ id: "Membership" })

/** An organisation. */
export const org = z.object({ id, username }).meta({ id: "Org" })
