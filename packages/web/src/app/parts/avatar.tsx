const hues = 12

/** The initial of a user on a colour of their own: nothing is loaded from other servers. */
export function Avatar({ name, size = "small" }: { name: string; size?: "small" | "large" }) {
  return (
    <span class={`avatar avatar-${size}`} style={{ "--hue": toHue(name) }} aria-hidden="true">
      {name.slice(0, 1).toUpperCase()}
    </span>
  )
}

function toHue(name: string): number {
  let sum = 0
  for (const char of name.toLowerCase()) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9_973
  return sum % hues
}
