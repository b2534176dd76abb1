/** Vals as folders, branches and files. */
export const fileDescriptions = {
  imageUrl:
    "A picture of it: an address, or a small picture itself as a `data:` URL; null if it has none",
  orgId: "The owner: the caller's own id, because this server has no organisations",
  org_id: "The id of the organisation",
  "Membership.role": "What the user may do there",
  "Membership.user": "The user",

  branch_id: "The id of the branch; `main` has the id of its val, and is meant without one",
  branchId: "The branch whose newest files are copied; `main` by default",
  forkedBranchId: "The branch it was made from; null for `main`, and if that was deleted",
  "FileDifference.kind": "What happened to the file",
  "FileDifference.before": "Its text before; null if it did not exist",
  "FileDifference.after": "Its text now; null if it does not exist",

  file_id: "The id of the file, which it keeps when it is edited or moved",
  "File.path": "Its path from the root, without a slash at the beginning",
  "FileDifference.path": "Its path from the root, before it was moved",
  newPath: "The path that the file or directory is moved to",
  "File.links.module": "Its address in imports, with version and branch",
  "links.endpoint": "Its web address, if it is of type `http`",
  "links.alias":
    "The same page at the address that is made of the names of user and val; only for the file that had it first",
  "changes.path": "The path of the file or directory, from the root",
  path: "The path of the file or directory, from the root; empty for the root itself",
  recursive: "Whether what directories contain is included too",
  content: "The text of the file",
  parent_path: "The directory to move it to; null for the root",
  "changeFiles.changes": "What to write, move and delete, in this order; all of it, or nothing",
  "changes.delete": "Deletes the path, and all that a directory contains",
  into: "Which of the two gets the changes: the `parent` by default, or the `branch`",
  resolved:
    "What paths contain then, whatever the branches have there; needed for those in `conflicts`",
  "resolved.delete": "There is no file at the path then",
  sourceVersion:
    "The version that the changes come from; another one is refused with 412, as by `If-Match`",
  "listHistory.path": "Only versions that changed this path",
  "restoreFiles.path": "The file or directory; everything without one",
  note: "What the author says about the version",
  "VersionChange.changes": "The paths that it has changed, without directories; at most 100",
  hasMoreChanges: "Whether it has changed more",
  "changes.kind": "What happened to the file",
  oldPath: "Where the file was, if it was moved",
  isNewVersion: "False if nothing has changed",
  "SavedFile.warnings":
    "What is wrong with the file, such as a `deno.json` that is not valid JSON; absent if nothing is",
  "SavedFiles.warnings":
    "What is wrong with the files, such as a `deno.json` that is not valid JSON",
  "SavedFile.schedule":
    "The schedule that it has got, because it has become one of type `interval`; absent otherwise",
  "SavedFiles.schedules": "The schedules of files that have become files of type `interval`",
  "AddedSchedule.fileId": "The id of the file",
  "AddedSchedule.nextAt": "When it runs first: at once on `main`; null while it is paused",
  isImport:
    "Whether the files come from elsewhere: new schedules then wait for their first due time",
  "SavedFiles.files": "The files and directories that were written",
}
