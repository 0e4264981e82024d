// Definitions of the size and the make of those that cloud providers' packages install by the hundred: about 60 KB,
// some 400 fields down to five levels, most with a description, some with patterns, enums, defaults and list types.

const TEXT =
  'The setting that is meant here decides how the provider reconciles the external resource with what is desired, and ' +
  'is looked at again whenever the resource is observed. It cannot be changed once the resource is there.'

function fieldOf(i, depth) {
  const description = `${TEXT.slice(0, 60 + ((i * 37) % 130))} (${i})`
  if (depth > 0 && i % 6 === 0) return { description, type: 'object', properties: fieldsOf(6, depth - 1, i) }
  if (depth > 0 && i % 6 === 3) {
    const items = {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, ...fieldsOf(4, depth - 1, i) },
    }
    const list = { description, type: 'array', items }
    return i % 4 ? list : { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }
  }
  if (i % 6 === 1) return { description, type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 }
  if (i % 6 === 2)
    return { description, type: 'string', enum: ['Enabled', 'Disabled', 'Automatic'], default: 'Automatic' }
  if (i % 6 === 4) return { description, type: 'integer', format: 'int32', minimum: 0, maximum: 65535 }
  return { description, type: 'object', additionalProperties: { type: 'string' } }
}

const fieldsOf = (count, depth, seed) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`setting${seed}x${i}`, fieldOf(seed + i, depth)]))

const condition = {
  type: 'object',
  required: ['lastTransitionTime', 'reason', 'status', 'type'],
  properties: {
    lastTransitionTime: { type: 'string', format: 'date-time' },
    message: { type: 'string', description: TEXT },
    reason: { type: 'string' },
    status: { type: 'string' },
    type: { type: 'string' },
  },
}

/** `bucket12s.storage.example.com`, in one of fifty groups. */
export function largeDefinition(i) {
  const group = `service${i % 50}.example.com`
  const plural = `bucket${i}s`
  const schema = {
    description: TEXT,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string', description: TEXT },
      kind: { type: 'string', description: TEXT },
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        description: TEXT,
        properties: {
          forProvider: { type: 'object', properties: fieldsOf(13, 3, 0) },
          initProvider: { type: 'object', properties: fieldsOf(9, 2, 0) },
        },
      },
      status: {
        type: 'object',
        properties: {
          atProvider: { type: 'object', properties: fieldsOf(8, 2, 0) },
          conditions: {
            type: 'array',
            items: condition,
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['type'],
          },
        },
      },
    },
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: { 'controller-gen.kubebuilder.io/version': 'v0.16.5' } },
    spec: {
      group,
      names: { kind: `Bucket${i}`, plural, singular: `bucket${i}`, categories: ['managed'] },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          subresources: { status: {} },
          additionalPrinterColumns: [
            { name: 'READY', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
            { name: 'AGE', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
    },
  }
}
