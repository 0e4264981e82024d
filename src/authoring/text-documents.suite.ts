// Documents from texts, for tests.
import { decodeYaml } from '../codec/yaml.js'
import type { ValueObject } from '../meta/values/value.js'
import { splitDocuments } from './documents/split-documents.js'
import type { Document } from './documents.js'

/** The documents of a YAML stream, as if it were a file of that name. */
export const documentsIn = (text: string, file = 'test.yaml'): readonly Document[] =>
  splitDocuments(Buffer.from(text)).map(({ bytes, firstLine }) => ({
    file,
    isNamed: true,
    firstLine,
    bytes,
    mediaType: 'application/yaml',
    value: decodeYaml(bytes).value as ValueObject,
  }))

/** A definition of Widgets in example.com with this schema for each version, the first of which is stored. */
export const widgetDefinition = (schemas: Readonly<Record<string, object>>, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: Object.entries(schemas).map(([name, spec], i) => ({
        name,
        served: true,
        storage: i === 0,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
      })),
      ...more,
    },
  })

export const widget = (spec: object, meta: object = { name: 'a' }, version = 'v1'): string =>
  JSON.stringify({ apiVersion: `example.com/${version}`, kind: 'Widget', metadata: meta, spec })
