// The name that a client asks for in the first message of TLS, read before the handshake begins (RFC 8446, RFC 6066).

/** More bytes are needed. */
export const INCOMPLETE = Symbol('incomplete')

const HANDSHAKE = 22
const CLIENT_HELLO = 1
const SERVER_NAME = 0
const RECORD_HEAD = 5
const MESSAGE_HEAD = 4
/** A first message that is longer than this is not looked at. */
const MAX_BYTES = 64 * 1024

/** In lower case. Undefined if there is none, or if the bytes are no such message, which TLS then refuses. */
export function requestedName(bytes: Buffer): string | undefined | typeof INCOMPLETE {
  const message = firstMessage(bytes)
  if (message === INCOMPLETE) return bytes.length < MAX_BYTES ? INCOMPLETE : undefined
  return message && nameIn(message)
}

/** The body of the message, of one record or several. Each byte is read once, however many records there are. */
function firstMessage(bytes: Buffer): Buffer | undefined | typeof INCOMPLETE {
  const parts: Buffer[] = []
  let size = 0
  for (let at = 0; ; ) {
    if (at < bytes.length && bytes[at] !== HANDSHAKE) return undefined
    if (bytes.length < at + RECORD_HEAD) return INCOMPLETE
    const end = at + RECORD_HEAD + bytes.readUInt16BE(at + 3)
    // TLS has no empty records of this type.
    if (end === at + RECORD_HEAD) return undefined
    const part = bytes.subarray(at + RECORD_HEAD, end)
    if (size === 0 && part.length > 0 && part[0] !== CLIENT_HELLO) return undefined
    parts.push(part)
    size += part.length
    if (bytes.length < end || size >= MESSAGE_HEAD + lengthOf(parts)) break
    at = end
  }
  const message = Buffer.concat(parts, size)
  return size >= MESSAGE_HEAD + lengthOf(parts) ? message.subarray(MESSAGE_HEAD) : INCOMPLETE
}

/** The length that the message says it has; infinite until that has arrived. */
function lengthOf(parts: readonly Buffer[]): number {
  let head = Buffer.alloc(0)
  for (const part of parts) {
    if (head.length >= MESSAGE_HEAD) break
    head = Buffer.concat([head, part.subarray(0, MESSAGE_HEAD - head.length)])
  }
  return head.length < MESSAGE_HEAD ? Infinity : head.readUIntBE(1, 3)
}

function nameIn(message: Buffer): string | undefined {
  try {
    // Version and random bytes, then the id of the session, cipher suites and compression methods, each with its length.
    let at = 34
    at += 1 + message.readUInt8(at)
    at += 2 + message.readUInt16BE(at)
    at += 1 + message.readUInt8(at)
    const end = at + 2 + message.readUInt16BE(at)
    for (at += 2; at < end; at += 4 + message.readUInt16BE(at + 2)) {
      if (message.readUInt16BE(at) !== SERVER_NAME) continue
      // The length of the list, the type of the first name (0, a host), its length.
      const length = message.readUInt16BE(at + 7)
      if (message.readUInt8(at + 6) !== 0 || at + 9 + length > message.length) return undefined
      return message.toString('latin1', at + 9, at + 9 + length).toLowerCase()
    }
    return undefined
  } catch {
    // A length points beyond the end.
    return undefined
  }
}
