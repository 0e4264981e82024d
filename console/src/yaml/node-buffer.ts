// What the server's YAML code uses of `node:buffer`, in a browser. The build puts it in the place of that module.

const decoders = { utf8: new TextDecoder('utf-8'), utf16le: new TextDecoder('utf-16le') }
const strict = new TextDecoder('utf-8', { fatal: true })
const encoder = new TextEncoder()

class Bytes extends Uint8Array {
  swap16(): this {
    for (let i = 0; i + 1 < this.length; i += 2) [this[i], this[i + 1]] = [this[i + 1]!, this[i]!]
    return this
  }

  override toString(encoding: 'utf8' | 'utf16le' = 'utf8'): string {
    return decoders[encoding].decode(this)
  }
}

export const Buffer = {
  from(source: string | Uint8Array | readonly number[] | ArrayBuffer, offset?: number, length?: number): Bytes {
    if (typeof source === 'string') return new Bytes(encoder.encode(source).buffer)
    return source instanceof ArrayBuffer ? new Bytes(source, offset, length) : new Bytes(source)
  },
  byteLength: (text: string): number => encoder.encode(text).length,
  isBuffer: (value: unknown): boolean => value instanceof Bytes,
}

export function isUtf8(bytes: Uint8Array): boolean {
  try {
    strict.decode(bytes)
    return true
  } catch {
    return false
  }
}
