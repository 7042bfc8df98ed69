// SPDX-License-Identifier: Apache-2.0
// A collector of OpenTelemetry that checks what it gets: OTLP over HTTP in the JSON encoding (opentelemetry-proto 1.x). Refuses the
// first request with 503, so that it must come again. Prints its port, then "good" once both kinds of figures have come and only
// rose, or what is wrong. Usage: node otlp_receiver.mjs
import { createServer } from 'node:http';

const units = { 'hw.energy': 'J', 'hw.power': 'W', 'hw.gpu.utilization': '1', 'hw.gpu.memory.usage': 'By', 'hw.gpu.memory.limit': 'By',
	'hw.temperature': 'Cel', 'kwhy.owner.energy': 'J' };
const counters = new Map();
let requests = 0;
let rises = 0;

function check(holds, what) {
	if (!holds) throw new Error(what);
}
function onlyKeys(object, keys, what) {
	check(object && typeof object === 'object' && !Array.isArray(object), `${what} is no object`);
	for (const key of Object.keys(object)) check(keys.includes(key), `${what} has the unknown field ${key}`);
}
function attributes(list, what) {
	const found = {};
	check(Array.isArray(list), `attributes of ${what} are no list`);
	for (const entry of list) {
		onlyKeys(entry, ['key', 'value'], `an attribute of ${what}`);
		onlyKeys(entry.value, ['stringValue'], `the value of ${entry.key}`);
		check(typeof entry.value.stringValue === 'string' && !(entry.key in found), `${entry.key} of ${what}`);
		found[entry.key] = entry.value.stringValue;
	}
	return found;
}
// A 64-bit integer is a string of decimal digits.
function time(text, what) {
	check(typeof text === 'string' && /^[0-9]{19}$/.test(text), `${what} is ${text}`);
	return BigInt(text);
}
function checkPoint(metric, point, isSum) {
	onlyKeys(point, ['startTimeUnixNano', 'timeUnixNano', 'asDouble', 'attributes'], `a point of ${metric.name}`);
	check(typeof point.asDouble === 'number' && Number.isFinite(point.asDouble), `the value of ${metric.name}`);
	const at = time(point.timeUnixNano, 'timeUnixNano');
	if (isSum) check(time(point.startTimeUnixNano, 'startTimeUnixNano') <= at, 'a sum starts after its end');
	else check(!('startTimeUnixNano' in point), 'a gauge has a start');
	const named = attributes(point.attributes, metric.name);
	check(named['hw.id'] && ['gpu', 'cpu'].includes(named['hw.type']), `${metric.name} lacks hw.id or hw.type`);
	if (!metric.sum?.isMonotonic) return;
	const key = metric.name + JSON.stringify(Object.entries(named).sort());
	check(point.asDouble >= (counters.get(key) ?? 0), `${metric.name} fell`);
	rises += counters.has(key) && point.asDouble > counters.get(key);
	counters.set(key, point.asDouble);
}
function checkMetric(metric) {
	onlyKeys(metric, ['name', 'unit', 'description', 'sum', 'gauge'], 'a metric');
	check(units[metric.name] === metric.unit, `${metric.name} has the unit ${metric.unit}`);
	check(!metric.sum !== !metric.gauge, `${metric.name} is not of one kind`);
	if (metric.sum) {
		onlyKeys(metric.sum, ['aggregationTemporality', 'isMonotonic', 'dataPoints'], 'a sum');
		check(metric.sum.aggregationTemporality === 2, 'a sum is not cumulative');
		check(metric.sum.isMonotonic === metric.name.endsWith('energy'), `${metric.name} is monotonic or not`);
	}
	for (const point of (metric.sum ?? metric.gauge).dataPoints) checkPoint(metric, point, Boolean(metric.sum));
}
function checkBody(text) {
	const body = JSON.parse(text);
	onlyKeys(body, ['resourceMetrics'], 'the request');
	for (const resource of body.resourceMetrics) {
		onlyKeys(resource, ['resource', 'scopeMetrics'], 'resourceMetrics');
		const host = attributes(resource.resource.attributes, 'the resource');
		check(host['service.name'] === 'kwhy' && host['host.name'], 'the resource lacks service.name or host.name');
		for (const scope of resource.scopeMetrics) {
			onlyKeys(scope.scope, ['name', 'version'], 'scope');
			scope.metrics.forEach(checkMetric);
		}
	}
	return body.resourceMetrics[0].scopeMetrics[0].metrics.map((metric) => metric.name);
}
const server = createServer((request, response) => {
	let text = '';
	request.on('data', (part) => { text += part; });
	request.on('end', () => {
		try {
			check(request.method === 'POST' && request.url === '/v1/metrics', `${request.method} ${request.url}`);
			check(request.headers['content-type'] === 'application/json', request.headers['content-type']);
			check(request.headers['x-tenant'] === 'lab', 'the header of OTEL_EXPORTER_OTLP_HEADERS is missing');
			requests++;
			if (requests === 1) {
				response.writeHead(503).end();
				return;
			}
			const names = checkBody(text);
			for (const name of Object.keys(units)) check(names.includes(name), `${name} is missing`);
			response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
			if (rises > 1) console.log('good');
		} catch (error) {
			console.log(`wrong: ${error.message}`);
			response.writeHead(400).end();
		}
	});
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
