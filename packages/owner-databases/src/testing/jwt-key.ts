import { generateKeyPairSync, sign } from "node:crypto"

/** A pair of keys: a libSQL server gets the public one, and its clients a token made with the other. */
export function createJwtKey() {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519")
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const content = `${encode({ alg: "EdDSA", typ: "JWT" })}.${encode({ a: "rw" })}`
  const signature = sign(null, Buffer.from(content), privateKey).toString("base64url")
  return {
    pem: publicKey.export({ type: "spki", format: "pem" }) as string,
    token: `${content}.${signature}`,
  }
}
