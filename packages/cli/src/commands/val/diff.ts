import { readFileSync } from "node:fs"
import { join, relative, resolve } from "node:path"
import { createTreeDeps, openCheckout } from "../../checkout/open-checkout.ts"
import { isValStep, planTree } from "../../checkout/plan-tree.ts"
import { createFetchText } from "../../checkout/remote-tree.ts"
import { compareFolder } from "../../checkout/sync-tree.ts"
import { defineCommand } from "../../command.ts"
import { printDiff } from "../../output/print-diff.ts"

export const command = defineCommand({
  description: `Shows the changes of the folder of one val since it was last pulled or pushed, as a unified diff; with
--remote, compares it with the newest version.`,
  examples: [
    ["hamlet val diff", 'what "hamlet val push" would save'],
    ["hamlet val diff --remote", "how the folder differs from the newest version"],
  ],
  takes: {
    "[paths...]": "only these files, or what is in these folders",
    "-d, --dir <folder>": { help: "folder of the val", default: "." },
    "--remote": "compare with the newest version",
  },
  async run(context, { paths, dir, remote: isRemote }) {
    const open = await openCheckout(context, dir)
    const { client, folder, checkout } = open
    const { remote, scan } = await compareFolder(createTreeDeps(context, open))
    const base = isRemote ? remote.files : checkout.files
    const missing = new Set([...base.keys()].filter((path) => !scan.files.has(path)))
    const sides = { base, scan: { ...scan, missing }, remote: { files: base } }
    const { version } = remote
    // Paths of the val, or as seen from here.
    const wanted = paths.flatMap((path) => [path, relative(folder, resolve(path))])
    // Files of the recorded state may be of different versions, each of which still exists.
    const fetchText = (path: string) =>
      createFetchText(
        client,
        checkout,
        isRemote ? version : (base.get(path)?.version ?? version),
      )(path)
    for (const step of planTree(sides).steps) {
      if (!isValStep(step)) continue
      const { kind, path, newPath = path } = step
      if (paths.length > 0 && !wanted.some((one) => isAt(path, one) || isAt(newPath, one))) continue
      const before = kind === "create" ? null : await fetchText(path)
      const after = kind === "delete" ? null : readFileSync(join(folder, newPath), "utf8")
      printDiff(context.output, { path, newPath, before, after })
    }
  },
})

function isAt(path: string, wanted: string): boolean {
  const place = wanted.replace(/\/+$/, "")
  return place === "" || path === place || path.startsWith(`${place}/`)
}
