// The part of DER that certificates need: https://www.itu.int/rec/T-REC-X.690.

export const sequence = (...parts: Buffer[]): Buffer => element(0x30, ...parts)
export const set = (...parts: Buffer[]): Buffer => element(0x31, ...parts)
/** `[n]` around another element. */
export const explicit = (n: number, part: Buffer): Buffer => element(0xa0 | n, part)
/** `[n]` in the place of a primitive element's own tag. */
export const implicit = (n: number, content: Buffer): Buffer => element(0x80 | n, content)
export const octets = (content: Buffer): Buffer => element(0x04, content)
export const utf8 = (text: string): Buffer => element(0x0c, Buffer.from(text))
export const boolean = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0]))

/** A whole number, not negative, most significant byte first. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex(byte => byte !== 0)
  const significant = first === -1 ? Buffer.alloc(1) : bytes.subarray(first)
  // A number whose highest bit is set would be negative, so a zero byte goes before it.
  return element(0x02, ...(significant[0]! & 0x80 ? [Buffer.alloc(1)] : []), significant)
}

/** The last `unused` bits of the content do not count. */
export const bits = (content: Buffer, unused = 0): Buffer => element(0x03, Buffer.from([unused]), content)

/** `1.2.840.10045.4.3.2`. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(number: number): number[] {
  const digits = [number % 128]
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(128 + (rest % 128))
  return digits
}

/** UTCTime before 2050, GeneralizedTime from then on, as RFC 5280 demands. */
export function time(moment: Date): Buffer {
  const digits = moment.toISOString().replace(/\.\d+Z|\D/g, '')
  const isEarly = moment.getUTCFullYear() < 2050
  return element(isEarly ? 0x17 : 0x18, Buffer.from(`${isEarly ? digits.slice(2) : digits}Z`))
}

function element(tag: number, ...parts: Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(length)]), ...parts])
}

function lengthOctets(length: number): number[] {
  if (length < 128) return [length]
  const digits: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256)
  return [128 + digits.length, ...digits]
}

export const pem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')}\n-----END ${label}-----\n`
