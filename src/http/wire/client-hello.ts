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

/** The body of the message, of one record or several. */
function firstMessage(bytes: Buffer): Buffer | undefined | typeof INCOMPLETE {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    if (at < bytes.length && bytes[at] !== HANDSHAKE) return undefined
    if (bytes.length < at + RECORD_HEAD) return INCOMPLETE
    const end = at + RECORD_HEAD + bytes.readUInt16BE(at + 3)
    parts.push(bytes.subarray(at + RECORD_HEAD, end))
    const message = Buffer.concat(parts)
    if (message.length >= 1 && message[0] !== CLIENT_HELLO) return undefined
    if (message.length >= MESSAGE_HEAD && message.length >= MESSAGE_HEAD + message.readUIntBE(1, 3)) {
      return message.subarray(MESSAGE_HEAD)
    }
    if (bytes.length < end) return INCOMPLETE
    at = end
  }
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
