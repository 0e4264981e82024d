// The schema of a CustomResourceDefinition as plain data.

export * from './structure/field-path.js'
export * from './structure/structural.js'
