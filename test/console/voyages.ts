// A custom kind with everything that the console shows, and objects of it.
import type { TestServer } from '../../src/testing/index.js'

export const VOYAGES = '/r/sea.example.com/v1/voyages'

const condition = {
  type: 'object',
  properties: {
    type: { type: 'string' },
    status: { type: 'string' },
    reason: { type: 'string' },
    message: { type: 'string' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
  },
}

const spec = {
  type: 'object',
  description: 'What is planned.',
  required: ['ship'],
  'x-kubernetes-validations': [
    { rule: '!has(self.to) || !has(self.from) || self.to != self.from', message: 'a voyage ends elsewhere' },
  ],
  properties: {
    ship: { type: 'string', description: 'The name of the ship.', minLength: 1 },
    knots: { type: 'integer', minimum: 0, maximum: 40, default: 8, description: 'The speed that is planned.' },
    from: { type: 'string', maxLength: 64 },
    to: { type: 'string', maxLength: 64 },
    sails: { type: 'string', enum: ['full', 'reefed', 'none'], description: 'How much canvas is set.' },
    cargo: {
      type: 'array',
      description: 'What is aboard.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, tons: { type: 'number' }, hazardous: { type: 'boolean' } },
      },
    },
    notes: { type: 'object', additionalProperties: { type: 'string' } },
    crew: { type: 'object', properties: { captain: { type: 'string' }, hands: { type: 'integer', minimum: 1 } } },
  },
}

export const definition = (plural = 'voyages', kind = 'Voyage') => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.sea.example.com` },
  spec: {
    group: 'sea.example.com',
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.ship' }],
        additionalPrinterColumns: [
          { name: 'Ship', type: 'string', jsonPath: '.spec.ship' },
          { name: 'Knots', type: 'integer', jsonPath: '.spec.knots' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'To', type: 'string', jsonPath: '.spec.to', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A voyage of a ship.',
            required: ['spec'],
            properties: {
              spec,
              status: {
                type: 'object',
                properties: { phase: { type: 'string' }, conditions: { type: 'array', items: condition } },
              },
            },
          },
        },
      },
    ],
  },
})

const SHIPS = ['Endurance', 'Fram', 'Discovery', 'Gauss', 'Belgica', 'Terra Nova']
const PORTS = ['Hobart', 'Ushuaia', 'Bergen', 'Cape Town', 'Lyttelton']
const SEASONS = ['spring', 'summer', 'autumn', 'winter']
const PHASES = ['Running', 'Pending', 'Failed', 'Complete']

export const voyage = (index: number, namespace = 'harbour') => ({
  apiVersion: 'sea.example.com/v1',
  kind: 'Voyage',
  metadata: {
    name: `voyage-${index}`,
    namespace,
    labels: { season: SEASONS[index % 4], fleet: index % 2 === 0 ? 'south' : 'north' },
  },
  spec: {
    ship: SHIPS[index % 6],
    knots: index % 14,
    from: PORTS[index % 5],
    to: PORTS[(index + 2) % 5],
    sails: 'full',
    cargo: [{ name: 'coal', tons: 12.5 }, { name: 'lamps' }],
    crew: { captain: 'A. Person', hands: 20 + index },
  },
})

export async function createNamespace(server: TestServer, name: string): Promise<void> {
  await server.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
}

/** The kind, and forty objects of it in the namespace harbour. */
export async function createVoyages(server: TestServer): Promise<void> {
  await server.apply(definition())
  await createNamespace(server, 'harbour')
  const indices = Array.from({ length: 40 }, (_, index) => index)
  await server.apply(indices.map(index => voyage(index)))
  await Promise.all(
    indices.map(index =>
      server.fetch(`/apis/sea.example.com/v1/namespaces/harbour/voyages/voyage-${index}/status?fieldManager=pilot`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ status: { phase: PHASES[index % 4] } }),
      }),
    ),
  )
}
