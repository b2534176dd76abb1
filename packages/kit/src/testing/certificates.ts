import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A certificate and its key, in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** An authority of our own, and certificates from it. */
export interface Authority extends Disposable {
  /** Its certificate, and the file that holds it. */
  readonly ca: string
  readonly path: string
  /** For a host; `days` may be negative for one that has expired. */
  issue(host: string, days?: number): Certificate
}

/** Makes an authority with OpenSSL, in a folder that goes with it. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-authority-"))
  const path = join(folder, "ca.pem")
  const caKey = join(folder, "ca.key")
  const run = (...args: string[]) => {
    const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args], { cwd: folder })
    if (exitCode !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`)
  }
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
  run(
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    caKey,
    "-out",
    path,
    "-days",
    "30",
    "-subj",
    "/CN=An authority of the tests",
  )
  let issued = 0
  return {
    path,
    ca: readFileSync(path, "utf8"),
    issue(host, days = 10) {
      const name = join(folder, `c${++issued}`)
      const isAddress = /^[\d.]+$/.test(host)
      writeFileSync(`${name}.ext`, `subjectAltName=${isAddress ? "IP" : "DNS"}:${host}`)
      run("req", ...newKey, "-keyout", `${name}.key`, "-out", `${name}.csr`, "-subj", `/CN=${host}`)
      const signed = [
        "-CA",
        path,
        "-CAkey",
        caKey,
        "-CAcreateserial",
        "-days",
        String(days),
        "-extfile",
        `${name}.ext`,
      ]
      run("x509", "-req", "-in", `${name}.csr`, ...signed, "-out", `${name}.pem`)
      return { cert: readFileSync(`${name}.pem`, "utf8"), key: readFileSync(`${name}.key`, "utf8") }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}
