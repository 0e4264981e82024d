import type { Webhooks } from './runner.mjs'

export function startWebhooks(port: number): Promise<Webhooks>
