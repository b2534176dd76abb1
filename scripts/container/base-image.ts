import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { makeMinimalDebian } from "../machines/minimal-debian.mjs"
import { mustRun, type Podman } from "./podman.ts"

const certificates = "/etc/ssl/certs/ca-certificates.crt"
const localName = "localhost/base"

/**
 * A stand-in for the published image of Node, for machines that reach no registry of images: a small
 * Debian with the Node, npm and certificates of this machine.
 */
export async function createBaseImage(podman: Podman): Promise<string> {
  const folder = join(podman.folder, "base")
  mkdirSync(folder)
  await makeMinimalDebian(folder)
  const archive = `${folder}.tar`
  await mustRun(["tar", "--create", "--file", archive, "--directory", folder, "."])
  const variable = `ENV NODE_EXTRA_CA_CERTS=${certificates}`
  await podman.mustRun("import", "--change", variable, archive, localName)
  for (const path of [folder, archive]) rmSync(path, { recursive: true, force: true })
  return localName
}
