import type { PackageCase } from "../package-case.ts"

/** Tokens, hashes, signatures and blockchains. */
export const cryptography: readonly PackageCase[] = [
  {
    code: `import { generateKeyPair, jwtVerify, SignJWT } from "npm:jose@6.2.17"
export default async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256")
  const token = await new SignJWT({ sub: "ada" }).setProtectedHeader({ alg: "ES256" }).setExpirationTime("1h").sign(privateKey)
  return (await jwtVerify(token, publicKey)).payload.sub
}`,
    returns: "ada",
  },
  {
    code: `import jwt from "npm:jsonwebtoken@9.0.3"
export default () => jwt.verify(jwt.sign({ sub: "ada" }, "secret", { expiresIn: "1h" }), "secret").sub`,
    returns: "ada",
    isInTests: true,
  },
  {
    code: `import bcrypt from "npm:bcryptjs@3.0.3"
export default async () => [await bcrypt.compare("a", await bcrypt.hash("a", 4)), bcrypt.compareSync("b", bcrypt.hashSync("a", 4))]`,
    returns: [true, false],
  },
  {
    code: `import { argon2Verify, argon2id, xxhash64 } from "npm:hash-wasm@4.13.0"
export default async () => {
  const hash = await argon2id({ password: "a", salt: new Uint8Array(16), parallelism: 1, iterations: 2, memorySize: 256, hashLength: 16, outputType: "encoded" })
  return [await argon2Verify({ password: "a", hash }), await xxhash64("a")]
}`,
    returns: [true, "d24ec4f1a98c6e5b"],
  },
  {
    code: `import CryptoJS from "npm:crypto-js@4.2.0"
export default () => CryptoJS.AES.decrypt(CryptoJS.AES.encrypt("hi", "key").toString(), "key").toString(CryptoJS.enc.Utf8)`,
    returns: "hi",
  },
  {
    code: `import nacl from "npm:tweetnacl@1.0.3"
export default () => {
  const { publicKey, secretKey } = nacl.sign.keyPair()
  const message = new TextEncoder().encode("hi")
  return nacl.sign.detached.verify(message, nacl.sign.detached(message, secretKey), publicKey)
}`,
    returns: true,
  },
  {
    code: `import { sha256 } from "npm:@noble/hashes@2.4.0/sha2.js"
import { bytesToHex } from "npm:@noble/hashes@2.4.0/utils.js"
export default () => bytesToHex(sha256(new TextEncoder().encode("a"))).slice(0, 8)`,
    returns: "ca978112",
  },
  {
    code: `import { secp256k1 } from "npm:@noble/curves@2.4.0/secp256k1.js"
export default () => {
  const { secretKey, publicKey } = secp256k1.keygen()
  const message = new Uint8Array([1, 2, 3])
  return secp256k1.verify(secp256k1.sign(message, secretKey), message, publicKey)
}`,
    returns: true,
  },
  {
    code: `import { Wallet, parseEther, verifyMessage } from "npm:ethers@6.17.0"
export default async () => {
  const wallet = new Wallet("0x" + "1".repeat(64))
  return [verifyMessage("hi", await wallet.signMessage("hi")) === wallet.address, parseEther("1").toString()]
}`,
    returns: [true, "1000000000000000000"],
  },
  {
    code: `import { keccak256, toHex, formatEther } from "npm:viem@2.57.1"
import { privateKeyToAccount } from "npm:viem@2.57.1/accounts"
export default () => [keccak256(toHex("a")).slice(0, 10), formatEther(10n ** 18n), privateKeyToAccount("0x" + "1".repeat(64)).address]`,
    returns: ["0x3ac22516", "1", "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"],
  },
  {
    code: `import { fromWei, keccak256 } from "npm:web3-utils@4.3.3"
export default () => [fromWei("1000000000000000000", "ether"), keccak256("a").slice(0, 10)]`,
    returns: ["1", "0x3ac22516"],
  },
  {
    code: `import bcrypt from "npm:bcrypt@6.0.0"
export default () => bcrypt.compareSync("a", bcrypt.hashSync("a", 4))`,
    returns: true,
  },
]
