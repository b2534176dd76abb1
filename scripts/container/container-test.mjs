// npm run container-test: builds the image of deploy/Containerfile and tries it with Podman.
// `npm run container-test -- --pull` uses the published base image instead of a local one.
import { runInForeground } from "../child.mjs"
import { ensurePackages } from "../setup/packages.mjs"
import { findOnPath, isProgram } from "../setup/programs.mjs"
import { bun, root } from "../setup/root.mjs"
import { ensureSystemPackages } from "../setup/system-packages.mjs"

/** Programs of the test. Each is in Debian's package of the same name. */
const programs = ["podman", "buildah", "runc", "debootstrap", "caddy", "podman-compose"].map(
  (name) => ({
    name,
    debianPackage: name,
    suites: "the test of the container",
    // Some are only on the PATH of root.
    find: () => findOnPath(name) ?? [`/usr/sbin/${name}`].find(isProgram),
  }),
)

await ensurePackages({ dev: true })
if (process.getuid?.() !== 0) {
  console.error("Cannot test the container: run it as root, which debootstrap needs")
  process.exitCode = 1
} else if ((await ensureSystemPackages(programs)).length > 0) process.exitCode = 1
else
  process.exitCode = await runInForeground(
    bun,
    ["scripts/container/main.ts", ...process.argv.slice(2)],
    { cwd: root },
  )
