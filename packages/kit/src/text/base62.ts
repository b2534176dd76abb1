const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** The number in base 62 with exactly `length` digits, padded with zeros. */
export function toBase62(number: bigint, length: number): string {
  let rest = number
  let text = ""
  for (let index = 0; index < length; index++) {
    text = (digits[Number(rest % 62n)] ?? "") + text
    rest /= 62n
  }
  return text
}
