// The areas of generated work. Each makes a scenario from random choices; `ask` sends a request to the reference (or to
// Binnacle, if there is none), so that work can follow from what was accepted.
import { applies } from './areas/applies.mjs'
import { definitions } from './areas/definitions.mjs'
import { documents } from './areas/documents.mjs'
import { lists } from './areas/lists.mjs'
import { objects } from './areas/objects.mjs'
import { patches } from './areas/patches.mjs'
import { policies } from './areas/policies.mjs'
import { recordings } from './areas/recordings.mjs'
import { rules } from './areas/rules.mjs'
import { webhooks } from './areas/webhooks.mjs'

export const AREAS = { objects, patches, recordings, lists, applies, definitions, rules, policies, documents, webhooks }
