import { spawnSync } from "node:child_process"
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { findOnPath } from "../setup/programs.mjs"
import { root } from "../setup/root.mjs"
import { installWithApt } from "../setup/system-packages.mjs"

/**
 * How this machine reaches Debian's packages and the npm registry; a new machine has the same. The
 * certificates are those of a mirror, if there is one.
 */
const connection = [
  "/etc/apt/apt.conf.d",
  "/etc/apt/keyrings",
  "/etc/apt/sources.list",
  "/etc/apt/sources.list.d",
  "/etc/apt/trusted.gpg.d",
  "/etc/hosts",
  "/etc/resolv.conf",
  "/etc/ssl/certs/ca-certificates.crt",
  "/usr/etc/npmrc",
]

/** Unpacking the packages takes minutes on a busy machine, so the result is kept. */
const cache = join(root, "node_modules", ".cache")

/**
 * Makes the file system of a Debian with nothing but its essential packages, apt and the Node of
 * this machine.
 * @param {string} folder an empty folder
 */
export async function makeMinimalDebian(folder) {
  const { codename, mirror } = readOrigin()
  const archive = join(cache, `debian-${codename}-${process.arch}.tar`)
  if (!existsSync(archive)) await makeArchive(archive, codename, mirror)
  run("tar", ["--extract", "--file", archive, "--directory", folder])
  // The folder of which it was made was a temporary one, for root only.
  chmodSync(folder, 0o755)
  for (const path of connection) copyIfThere(path, join(folder, path))
  copyIfThere(join(homedir(), ".npmrc"), join(folder, "root", ".npmrc"))
  copyNode(folder)
}

/**
 * @param {string} archive
 * @param {string} codename
 * @param {string} mirror
 */
async function makeArchive(archive, codename, mirror) {
  if (!findOnPath("debootstrap")) await installWithApt(["debootstrap"])
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(tmpdir(), "hamlet-debian-"))
  try {
    run("debootstrap", ["--variant=minbase", codename, folder, mirror])
    run("tar", ["--create", "--file", `${archive}.new`, "--directory", folder, "."])
    renameSync(`${archive}.new`, archive)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" })
  if (status !== 0)
    throw new Error(
      `Cannot make a minimal Debian: ${command} ended with ${status}\n${stdout}${stderr}`,
    )
}

/** The release of this machine's Debian, and where it gets its packages. */
function readOrigin() {
  const [, codename] =
    /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync("/etc/os-release", "utf8")) ?? []
  const format = ["indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)"]
  const { stdout = "" } = spawnSync("apt-get", format, { encoding: "utf8" })
  const main = stdout.split("\n").find((line) => line.endsWith(` ${codename} main`))
  if (codename === undefined || main === undefined)
    throw new Error("Cannot make a minimal Debian: this machine is no Debian with a package mirror")
  return { codename, mirror: main.split(" ")[0] ?? "" }
}

/**
 * @param {string} from
 * @param {string} to
 */
export function copyIfThere(from, to) {
  if (!existsSync(from)) return
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to, { recursive: true, dereference: true })
}

/** @param {string} folder */
function copyNode(folder) {
  const npm = findOnPath("npm")
  if (!npm) throw new Error("Cannot make a minimal Debian: npm is not on the PATH")
  const local = join(folder, "usr", "local")
  cpSync(findOnPath("node") ?? process.execPath, join(local, "bin", "node"), { dereference: true })
  // npm is a link to …/npm/bin/npm-cli.js.
  const npmFolder = dirname(dirname(realpathSync(npm)))
  cpSync(npmFolder, join(local, "lib", "node_modules", "npm"), { recursive: true })
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(local, "bin", "npm"))
}

/**
 * Runs inside the new file system: a root of its own, since a program in a mere chroot may not make
 * user namespaces, which sandboxes need. Processes that are left end with the command. The shell is
 * the first process: it passes SIGTERM on, and waits for those that have lost their parent.
 */
const enter = `
  set -e
  mount --make-rprivate /
  mount --bind "$ROOT" "$ROOT"
  cd "$ROOT"
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --rbind /dev dev
  mount -t tmpfs -o mode=1777 tmpfs tmp
  pivot_root . .
  umount -l .
  cd "$FOLDER"
  setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups env -i $ENVIRONMENT "$@" &
  child=$!
  trap 'kill -TERM "$child"' TERM
  status=0
  while kill -0 "$child" 2> /dev/null; do
    status=0
    wait "$child" || status=$?
  done
  exit "$status"
`

/**
 * The program and the arguments that run a command in a minimal Debian.
 * @param {{ root: string, folder: string, userId: number, home: string }} machine folder: where the
 * command runs
 * @param {string[]} command
 * @returns {{ program: string, args: string[], env: NodeJS.ProcessEnv }}
 */
export function toCommandInside({ root: fileSystem, folder, userId, home }, command) {
  const certificates = process.env.NODE_EXTRA_CA_CERTS
  const environment = {
    PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    HOME: home,
    ...(certificates ? { NODE_EXTRA_CA_CERTS: certificates } : {}),
  }
  const namespaces = ["--mount", "--pid", "--fork", "--kill-child", "--"]
  return {
    program: "unshare",
    args: [...namespaces, "sh", "-c", enter, "sh", ...command],
    env: {
      ...process.env,
      ROOT: fileSystem,
      FOLDER: folder,
      USER_ID: String(userId),
      ENVIRONMENT: Object.entries(environment)
        .map(([name, value]) => `${name}=${value}`)
        .join(" "),
    },
  }
}
