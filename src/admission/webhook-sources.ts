// The webhook configurations of a server: informers keep their webhooks, compiled, in memory.

import type { Logger } from '../base/logger.js'
import type { Kind } from '../kinds/kind.js'
import { type KindInformer, startKindInformer } from '../objects/informer.js'
import type { ObjectStores } from '../objects/object-stores.js'
import { createWebhookSource, type Webhook, type WebhookSource, webhooksOf } from './webhooks/source.js'

export interface WebhookSources {
  readonly mutating: WebhookSource
  readonly validating: WebhookSource
  /** False while there are configurations that cannot be read. */
  readonly isComplete: boolean
  stop(): void
}

export interface WebhookConfigurationKinds {
  readonly mutating: Kind
  readonly validating: Kind
}

/** Resolves when all configurations are read. */
export async function startWebhookSources(
  objects: Pick<ObjectStores, 'objectStore'>,
  kinds: WebhookConfigurationKinds,
  log?: Logger,
): Promise<WebhookSources> {
  const [mutating, validating] = await Promise.all([
    startSource(objects, kinds.mutating, log),
    startSource(objects, kinds.validating, log),
  ])
  return {
    mutating: mutating.source,
    validating: validating.source,
    get isComplete() {
      return mutating.informer.isComplete && validating.informer.isComplete
    },
    stop() {
      mutating.informer.stop()
      validating.informer.stop()
    },
  }
}

async function startSource(
  objects: Pick<ObjectStores, 'objectStore'>,
  kind: Kind,
  log: Logger | undefined,
): Promise<{ readonly source: WebhookSource; readonly informer: KindInformer<readonly Webhook[]> }> {
  let generation = 0
  const informer = await startKindInformer<readonly Webhook[]>(objects, kind, webhooksOf, () => void generation++, log)
  const source = createWebhookSource({
    all: () => informer.all(''),
    get isComplete() {
      return informer.isComplete
    },
    get generation() {
      return generation
    },
  })
  return { source, informer }
}
