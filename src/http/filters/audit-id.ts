// The audit ID of a request: the client's own, or a new UUID. It is sent back as the header Audit-Id.
import { randomUUID } from 'node:crypto'
import type { Exchange } from '../wire/exchange.js'

/** The ID that the client sends is taken as it is. */
export function auditIdOf({ headers }: Exchange): string {
  const given = headers['audit-id']
  return typeof given === 'string' && given !== '' ? given : randomUUID()
}
