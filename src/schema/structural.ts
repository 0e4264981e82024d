// The schema of a CustomResourceDefinition as plain data, and as a type.

export * from './structure/field-path.js'
export * from './structure/structural.js'
export * from './structure/structural-type.js'
