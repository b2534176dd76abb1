import { join } from "node:path"
import { listFiles } from "../list-files.ts"
import { checkBoundedCalls } from "./bounded-calls.ts"
import { documentedCode } from "./documented-code.ts"
import { checkExactVersions } from "./exact-versions.ts"
import { checkExportedNames } from "./exported-names.ts"
import { checkFolderSizes } from "./folder-sizes.ts"
import { checkGeneratedClient } from "./generated-client.ts"
import { checkGeneratedTable } from "./generated-tables.ts"
import { checkLocalPaths } from "./local-paths.ts"
import { checkLockFile } from "./lock-file.ts"
import { checkMarkdownLinks } from "./markdown-links.ts"
import { checkMigrationNumbers } from "./migration-numbers.ts"
import { checkOwnerComparisons } from "./owner-comparisons.ts"
import { checkCommentStarts } from "./style/comment-starts.ts"
import { checkLiteralSpreads } from "./style/literal-spreads.ts"
import { checkPlainWords } from "./style/plain-words.ts"
import { checkTextSizes } from "./text-sizes.ts"

const rules = [
  checkBoundedCalls,
  checkLocalPaths,
  checkMarkdownLinks,
  checkExactVersions,
  checkLockFile,
  checkMigrationNumbers,
  checkOwnerComparisons,
  checkFolderSizes,
  checkExportedNames,
  checkPlainWords,
  checkCommentStarts,
  checkLiteralSpreads,
  checkTextSizes,
]

/**
 * What no other tool looks at. With `isFixing`, what is made from the code is written anew first.
 */
export async function tidy(root: string, isFixing: boolean): Promise<string[]> {
  const documented = await Promise.all(
    documentedCode.map((table) => checkGeneratedTable(root, table, isFixing)),
  )
  const client = await checkGeneratedClient(root, isFixing)
  const tree = { root, files: listFiles(root) }
  return [...documented.flat(), ...client, ...rules.flatMap((rule) => rule(tree))]
}

if (import.meta.main) {
  const problems = await tidy(join(import.meta.dir, "..", ".."), process.argv.includes("--fix"))
  for (const problem of problems) console.error(problem)
  process.exitCode = problems.length > 0 ? 1 : 0
}
