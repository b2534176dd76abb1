import type { Runner } from "@hamlet/sandbox"
import type { Users } from "../domain/accounts/users.ts"
import { createComments } from "../domain/comments/comments.ts"
import { createBranches } from "../domain/files/branches.ts"
import { createDifferences } from "../domain/files/differences.ts"
import { createFileHistory } from "../domain/files/file-history.ts"
import { createFileSaves } from "../domain/files/file-saves.ts"
import { createFiles } from "../domain/files/files.ts"
import { createMerges } from "../domain/files/merges.ts"
import { createModuleFiles } from "../domain/files/module-files.ts"
import { createLikes } from "../domain/likes/likes.ts"
import { createVersionLockfiles } from "../domain/modules/version-lockfiles.ts"
import type { Cipher } from "../domain/secrets/cipher.ts"
import { createValSecrets } from "../domain/secrets/val-secrets.ts"
import { createForks } from "../domain/vals/forks.ts"
import { createImportedVals } from "../domain/vals/import-vals.ts"
import { createReferences } from "../domain/vals/references.ts"
import { createValLists } from "../domain/vals/val-lists.ts"
import { createVals } from "../domain/vals/vals.ts"
import { createVersions } from "../domain/vals/versions.ts"
import { ThreadedLineMerger } from "../runtime/line-merger/line-merger.ts"
import type { Foundation } from "./foundation.ts"
import type { composeModules } from "./modules.ts"
import type { Stores } from "./stores.ts"

/** Vals with their versions, secrets, likes, comments, forks and references. */
export function composeVals(
  foundation: Foundation,
  stores: Stores,
  { sources, fetching }: ReturnType<typeof composeModules>,
  runner: Runner,
  cipher: Cipher,
  users: Users,
) {
  const { lockfiles, bundles } = stores
  const { lockfileWork } = fetching
  const vals = createVals(stores.vals, sources, runner, lockfileWork, foundation)
  const valLists = createValLists(stores.vals, stores.ownVals, users)
  const versions = createVersions(stores.versions, vals, sources, runner, foundation)
  const versionLockfiles = createVersionLockfiles(
    lockfiles,
    bundles,
    versions,
    sources,
    fetching,
    foundation,
  )
  const branches = createBranches(stores.branches, vals, runner, foundation)
  const files = createFiles(stores.files, vals, branches)
  const fileSaves = createFileSaves({
    store: stores.files,
    vals,
    files,
    sources,
    runner,
    lockfileWork,
    clock: foundation,
  })
  const lineMerger = new ThreadedLineMerger()
  return {
    vals,
    branches,
    files,
    fileSaves,
    merges: createMerges({
      store: stores.files,
      vals,
      branches,
      files,
      fileSaves,
      sources,
      lineMerger,
      clock: foundation,
    }),
    lineMerger,
    moduleFiles: createModuleFiles(vals, stores.versionFiles, sources),
    differences: createDifferences(files),
    fileHistory: createFileHistory(stores.files, vals, files, fileSaves, sources, foundation),
    valLists,
    versions,
    versionLockfiles,
    valSecrets: createValSecrets(stores.valSecrets, vals, cipher, runner, foundation),
    likes: createLikes(stores.likes, vals, foundation),
    comments: createComments(stores.comments, vals, foundation),
    references: createReferences(stores.references, vals),
    forks: createForks({
      store: stores.forks,
      vals,
      versions,
      lists: valLists,
      sources,
      lockfiles: versionLockfiles,
      clock: foundation,
    }),
    importedVals: createImportedVals(
      stores.importedVals,
      stores.users,
      sources,
      runner,
      lockfileWork,
      foundation,
    ),
  }
}
