import { readFileSync, statSync } from "node:fs"
import { smtpLimits } from "./smtp-limits.ts"

/** PEM files. */
export interface CertificateFiles {
  readonly certificatePath: string
  readonly keyPath: string
}

/** A certificate that is read again when its files have changed: certificates last some weeks. */
export class Certificate {
  readonly #files: CertificateFiles
  #state = ""
  #checkedMs = 0

  constructor(files: CertificateFiles) {
    this.#files = files
  }

  read(): { readonly cert: Buffer; readonly key: Buffer } {
    this.#state = this.#findState() ?? ""
    this.#checkedMs = performance.now()
    return {
      cert: readFileSync(this.#files.certificatePath),
      key: readFileSync(this.#files.keyPath),
    }
  }

  /** Undefined if nothing has changed, or the files cannot be read now. */
  readIfChanged(): ReturnType<Certificate["read"]> | undefined {
    if (performance.now() - this.#checkedMs < smtpLimits.certificateMs) return undefined
    this.#checkedMs = performance.now()
    const state = this.#findState()
    if (state === undefined || state === this.#state) return undefined
    try {
      return this.read()
    } catch {
      return undefined
    }
  }

  #findState(): string | undefined {
    try {
      const { certificatePath, keyPath } = this.#files
      return `${statSync(certificatePath).mtimeMs} ${statSync(keyPath).mtimeMs}`
    } catch {
      return undefined
    }
  }
}
