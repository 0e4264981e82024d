// CBOR in diagnostic notation (RFC 8949, section 8), in which error messages quote a body:
// `55799({'kind': 'Widget', 'metadata': {'name': 'a'}})`.
import { isUtf8 } from 'node:buffer'
import { asBuffer } from '../utf8.js'
import {
  BREAK,
  BYTES,
  FLOAT16,
  floatOf,
  type Head,
  INDEFINITE,
  LIST,
  MAP,
  NEGATIVE,
  POSITIVE,
  readHead,
  TAG,
  TEXT,
} from './heads.js'
import { checkWellFormed } from './wellformed.js'

/** The notation of a well-formed item; for other bytes, their hexadecimal digits. */
export function diagnoseCbor(bytes: Uint8Array): string {
  try {
    checkWellFormed(bytes)
    return new Diagnosis(bytes).item()
  } catch {
    return asBuffer(bytes).toString('hex')
  }
}

class Diagnosis {
  private at = 0

  constructor(private readonly bytes: Uint8Array) {}

  item(): string {
    const head = readHead(this.bytes, this.at)
    this.at = head.end
    const indefinite = head.info === INDEFINITE
    switch (head.type) {
      case POSITIVE:
        return String(head.argument)
      case NEGATIVE:
        return String(-1n - BigInt(head.argument))
      case BYTES:
      case TEXT:
        return indefinite ? this.chunks(head) : this.string(head)
      case LIST:
        return `[${indefinite ? '_ ' : ''}${this.items(head, () => this.item())}]`
      case MAP:
        return `{${indefinite ? '_ ' : ''}${this.items(head, () => `${this.item()}: ${this.item()}`)}}`
      case TAG:
        return `${head.argument}(${this.item()})`
      default:
        return this.primitive(head)
    }
  }

  private items({ info, argument }: Head, next: () => string): string {
    const items: string[] = []
    if (info === INDEFINITE) {
      while (this.bytes[this.at] !== BREAK) items.push(next())
      this.at++
    } else for (let i = 0; i < Number(argument); i++) items.push(next())
    return items.join(', ')
  }

  private chunks(head: Head): string {
    const text = this.items(head, () => this.item())
    if (text === '') return head.type === BYTES ? "''_" : '""_'
    return `(_ ${text})`
  }

  private string({ type, argument }: Head): string {
    if (argument === 0) return type === TEXT ? '""' : "h''"
    const from = this.at
    this.at += Number(argument)
    // A string may be cut into very many chunks of one character.
    if (argument === 1 && this.bytes[from]! < 0x80)
      return quote(String.fromCharCode(this.bytes[from]!), type === TEXT ? '"' : "'")
    const content = asBuffer(this.bytes.subarray(from, this.at))
    if (type === TEXT) {
      if (!isUtf8(content)) throw new Error('cbor: invalid UTF-8 string')
      return quote(content.toString('utf8'), '"')
    }
    return content.length > 0 && isUtf8(content)
      ? quote(content.toString('utf8'), "'")
      : `h'${content.toString('hex')}'`
  }

  private primitive(head: Head): string {
    if (head.info >= FLOAT16) return decimal(floatOf(this.bytes, head))
    return NAMES.get(Number(head.argument)) ?? `simple(${head.argument})`
  }
}

const NAMES = new Map([
  [20, 'false'],
  [21, 'true'],
  [22, 'null'],
  [23, 'undefined'],
])

/** A float is always printed as one, with a decimal point or an exponent. */
function decimal(float: number): string {
  const text = Object.is(float, -0) ? '-0' : String(float)
  if (text.includes('.')) return text
  return text.includes('e') ? text.replace('e', '.0e') : `${text}.0`
}

const SHORT_ESCAPES: Record<string, string> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' }

/** Needs no escapes, whatever the mark. */
const PLAIN = /^[ !#-&(-[\]-~]*$/

function quote(text: string, mark: string): string {
  if (PLAIN.test(text)) return mark + text + mark
  let quoted = mark
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i)
    const code = text.charCodeAt(i)
    if (character === mark) quoted += `\\${mark}`
    else if (SHORT_ESCAPES[character] !== undefined) quoted += SHORT_ESCAPES[character]
    else if (code >= 0x20 && code <= 0x7e) quoted += character
    else quoted += `\\u${code.toString(16).padStart(4, '0')}`
  }
  return quoted + mark
}
