// Addresses of networks: IP, CIDR, MAC. Leading zeros in an IPv4 address are decimal, as they always were here; inside
// an IPv6 address they are refused.

/** An IP address with dots in it, which includes `::ffff:1.2.3.4`. */
export const isIpv4 = (text: string): boolean => text.includes('.') && isIp(text)

export const isIpv6 = (text: string): boolean => text.includes(':') && isIp(text)

export function isCidr(text: string): boolean {
  const slash = text.indexOf('/')
  if (slash < 0) return false
  const address = text.slice(0, slash)
  const bits = text.slice(slash + 1)
  if (!/^[0-9]+$/.test(bits)) return false
  if (isDottedQuad(address, true)) return Number(bits) <= 32
  return isColonForm(address) && Number(bits) <= 128
}

/** 6, 8 or 20 bytes: in pairs by colons or hyphens, in fours by dots, or without any mark. */
export function isMac(text: string): boolean {
  const bytes = text.replace(/[:.-]/g, '').length / 2
  if (bytes !== 6 && bytes !== 8 && bytes !== 20) return false
  return (
    /^[0-9a-f]{2}(?::[0-9a-f]{2})+$/i.test(text) ||
    /^[0-9a-f]{2}(?:-[0-9a-f]{2})+$/i.test(text) ||
    /^[0-9a-f]{4}(?:\.[0-9a-f]{4})+$/i.test(text) ||
    /^[0-9a-f]+$/i.test(text)
  )
}

function isIp(text: string): boolean {
  // Whichever mark comes first decides.
  for (const character of text) {
    if (character === '.') return isDottedQuad(text, true)
    if (character === ':') return isColonForm(text)
  }
  return false
}

function isDottedQuad(text: string, leadingZeros: boolean): boolean {
  const parts = text.split('.')
  return (
    parts.length === 4 &&
    parts.every(part => /^[0-9]+$/.test(part) && Number(part) <= 255 && (leadingZeros || /^(?:0|[1-9])/.test(part))) &&
    (leadingZeros || parts.every(part => part.length === 1 || !part.startsWith('0')))
  )
}

/** Eight groups, fewer where `::` stands for the rest; the last two may be a dotted quad. */
export function isColonForm(text: string): boolean {
  const gap = text.indexOf('::')
  if (gap < 0) return groupCount(text, true) === 8
  if (text.indexOf('::', gap + 1) >= 0) return false
  const before = groupCount(text.slice(0, gap), false)
  const after = groupCount(text.slice(gap + 2), true)
  return before !== undefined && after !== undefined && before + after < 8
}

function groupCount(text: string, mayEndInQuad: boolean): number | undefined {
  if (text === '') return 0
  const groups = text.split(':')
  let count = 0
  for (const [i, group] of groups.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(group)) count++
    else if (mayEndInQuad && i === groups.length - 1 && isDottedQuad(group, false)) count += 2
    else return undefined
  }
  return count
}
