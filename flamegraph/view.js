/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view.js - what a browser does with a flame graph: zoom, search, keys, fitting it to the window.
 *
 * The still picture is complete without it. Frames come depth first, so a subtree is a range of
 * numbers: frames[i] .. frames[end[i] - 1]. x and w are exact weights, not pixels. All text is set
 * as text, never as markup. Inside an HTML page nothing outside of the <svg> is touched.
 */
(function () {
	'use strict';
	var NS = 'http://www.w3.org/2000/svg', XHTML = 'http://www.w3.org/1999/xhtml';
	var svg = document.currentScript.closest('svg');
	var alone = document.documentElement === svg;
	var frames = Array.from(svg.querySelectorAll('.frames > g'));
	var head = svg.querySelector('.head'), crumbs = svg.querySelector('.crumbs');
	var details = svg.querySelector('.details'), legend = svg.querySelector('.legend');
	var title = svg.querySelector('.title'), titleText = svg.getAttribute('aria-label');
	var summary = svg.querySelector('.summary'), summaryText = summary.textContent;
	var step = +svg.dataset.frame, margin = +svg.dataset.margin, pad = 3, gap = 0.5;
	var inverted = svg.dataset.inverted === '1';
	var height = +svg.getAttribute('height'), still = +svg.getAttribute('width');
	var n = frames.length, width = still, zoomed = 0, current = -1, column = 7.22;
	var x = [], w = [], depth = [], parent = [], end = [], name = [], info = [];
	var rect = [], label = [], shown = [], matched = [], nrMatched = 0, found = '';
	var input = null, box = null;

	function read() {
		var open = [];
		frames.forEach(function (g, i) {
			var title = g.firstChild.textContent, cut = title.lastIndexOf('\n');
			x[i] = +g.dataset.x;
			w[i] = +g.dataset.w;
			name[i] = title.slice(0, cut);
			info[i] = title.slice(cut + 1);
			rect[i] = g.querySelector('rect');
			label[i] = g.querySelector('text');
			depth[i] = Math.round(Math.abs(rect[i].getAttribute('y') -
				rect[0].getAttribute('y')) / step);
			while (open.length > depth[i])
				end[open.pop()] = i;
			parent[i] = open.length ? open[open.length - 1] : -1;
			open.push(i);
			shown[i] = true;
			matched[i] = false;
		});
		while (open.length)
			end[open.pop()] = n;
	}

	/* ---- geometry: as svg_frame.c has it ---- */

	function isWide(c) {
		return (c >= 0x1100 && c <= 0x115e) || (c >= 0x2e80 && c <= 0xa4cf) ||
			(c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
			(c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
			(c >= 0xffe0 && c <= 0xffe6) || (c >= 0x1f300 && c <= 0x1faff) ||
			(c >= 0x20000 && c <= 0x3fffd);
	}

	/* By code points, so that no character is cut in two. */
	function fit(text, columns) {
		var used = 0, at = 0, cut = 0, c, wide;
		if (text.length <= columns && /^[ -~]*$/.test(text))
			return text;
		for (; at < text.length; at += c > 0xffff ? 2 : 1) {
			c = text.codePointAt(at);
			wide = isWide(c) ? 2 : 1;
			if (used + wide > columns)
				return text.slice(0, cut) + '\u2026';
			used += wide;
			if (used < columns)
				cut = at + (c > 0xffff ? 2 : 1);
		}
		return text;
	}

	function place(i, left, wide) {
		var columns, y;
		if (wide >= 4)
			wide -= gap;
		rect[i].setAttribute('x', (margin + left).toFixed(2));
		rect[i].setAttribute('width', wide.toFixed(2));
		columns = Math.floor((wide - 2 * pad) / column);
		if (columns < 3) {
			if (label[i])
				label[i].textContent = '';
			return;
		}
		if (!label[i]) {
			label[i] = frames[i].appendChild(document.createElementNS(NS, 'text'));
			y = +rect[i].getAttribute('y') + Math.floor(step / 2) + 4;
			label[i].setAttribute('y', y);
		}
		label[i].setAttribute('x', (margin + left + pad).toFixed(2));
		label[i].textContent = fit(name[i], columns);
	}

	function show(i, yes) {
		if (shown[i] === yes)
			return;
		shown[i] = yes;
		frames[i].style.display = yes ? '' : 'none';
	}

	/* The zoomed frame fills the width, those that called it lie pale under it. */
	function layout() {
		var inner = width - 2 * margin, scale = w[zoomed] ? inner / w[zoomed] : 0;
		var above = {}, i;
		for (i = parent[zoomed]; i >= 0; i = parent[i])
			above[i] = true;
		for (i = 0; i < n; i++) {
			var inside = i >= zoomed && i < end[zoomed];
			show(i, inside || above[i] === true);
			frames[i].classList.toggle('above', above[i] === true);
			if (inside)
				place(i, (x[i] - x[zoomed]) * scale, w[i] * scale);
			else if (above[i])
				place(i, 0, inner);
		}
	}

	/* ---- the lines of the head ---- */

	function say() {
		var text = '';
		if (current >= 0)
			text = name[current] + '  ' + info[current];
		else if (found)
			text = matchLine();
		else
			text = 'Click or Enter: zoom   Esc: back   / or Ctrl-F: search   n N: next, previous match   arrows: move';
		details.textContent = fit(text, Math.floor((width - 2 * margin) / column));
	}

	function crumb(text, target) {
		var t = crumbs.appendChild(document.createElementNS(NS, 'tspan'));
		t.textContent = text;
		if (target === undefined)
			return;
		t.setAttribute('role', 'button');
		t.setAttribute('tabindex', '0');
		t.addEventListener('click', function () { go(target); });
		t.addEventListener('keydown', function (e) {
			if (e.key === 'Enter' || e.key === ' ') {
				e.preventDefault();
				e.stopPropagation();
				go(target);
			}
		});
	}

	/* From the zoomed frame outwards as many as fit; what is between them and the root is dots. */
	function showPath() {
		var room = Math.floor((width - 2 * margin) / column) - 10, path = [], i, text;
		crumbs.textContent = '';
		if (!zoomed) {
			crumb('all');
			return;
		}
		for (i = zoomed; i > 0 && room > 12; i = parent[i]) {
			text = fit(name[i], Math.max(12, Math.min(40, room - 3)));
			room -= text.length + 3;
			path.unshift([text, i]);
		}
		crumb('all', 0);
		if (i > 0)
			crumb(' \u203a \u2026');
		path.forEach(function (p) {
			crumb(' \u203a ');
			crumb(p[0], p[1] === zoomed ? undefined : p[1]);
		});
	}

	/* ---- search ---- */

	function expression(text) {
		try { /* capital letters only where they are meant */
			return new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, '')) ? '' : 'i');
		} catch (e) {
			return null;
		}
	}

	/* A frame in a matching frame is part of it: the widths are united, not added. */
	function matchLine() {
		var sum = 0, nr = 0, i, share;
		for (i = zoomed; i < end[zoomed]; i++)
			nr += matched[i] ? 1 : 0;
		for (i = zoomed; i < end[zoomed];) {
			sum += matched[i] ? w[i] : 0;
			i = matched[i] ? end[i] : i + 1;
		}
		share = w[zoomed] ? (100 * sum / w[zoomed]).toFixed(2) : '0.00';
		return 'Matched ' + share + '% of ' + name[zoomed] + ', ' + nr +
			(nr === 1 ? ' frame' : ' frames');
	}

	function search(text) {
		var re = text ? expression(text) : null, bad = text !== '' && !re;
		nrMatched = 0;
		found = re ? text : '';
		for (var i = 0; i < n; i++) {
			var yes = re !== null && re.test(name[i]);
			nrMatched += yes ? 1 : 0;
			if (yes !== matched[i])
				frames[i].classList.toggle('match', yes);
			matched[i] = yes;
		}
		if (input.value !== text)
			input.value = text;
		input.setCustomValidity(bad ? 'not a regular expression' : '');
		select(-1);
		if (bad)
			details.textContent = 'Not a regular expression: ' + text;
		remember(false);
	}

	/* ---- one frame at a time ---- */

	function select(i, scroll) {
		if (current >= 0)
			frames[current].classList.remove('current');
		current = i;
		if (i >= 0) {
			frames[i].classList.add('current');
			if (scroll)
				reveal(i);
		}
		say();
	}

	function reveal(i) {
		var y = +rect[i].getAttribute('y'), top = window.scrollY, view = window.innerHeight;
		if (!alone) {
			rect[i].scrollIntoView({block: 'nearest', inline: 'nearest'});
			return;
		}
		if (y < top + headHeight())
			window.scrollTo(0, y - headHeight());
		else if (y + step > top + view)
			window.scrollTo(0, y + step - view);
	}

	/* The zoomed frame at the side that its callees grow away from. */
	function revealZoomed() {
		var y = +rect[zoomed].getAttribute('y'), view = window.innerHeight;
		if (alone && height > view)
			window.scrollTo(0, inverted ? y - headHeight() - 2 * step :
				y + 3 * step - view);
	}

	function headHeight() {
		return +head.querySelector('.back').getAttribute('height') + 4;
	}

	function children(i) {
		var list = [];
		for (var c = i + 1; c < end[i]; c = end[c])
			list.push(c);
		return list;
	}

	function step_to(key) {
		var i = current >= 0 ? current : zoomed, to = -1, list, at;
		if (current < 0)
			to = zoomed;
		else if (key === (inverted ? 'ArrowUp' : 'ArrowDown'))
			to = parent[i];
		else if (key === (inverted ? 'ArrowDown' : 'ArrowUp'))
			children(i).forEach(function (c) { to = to < 0 || w[c] > w[to] ? c : to; });
		else if (parent[i] >= 0) {
			list = children(parent[i]);
			at = list.indexOf(i) + (key === 'ArrowLeft' ? -1 : 1);
			to = at >= 0 && at < list.length ? list[at] : -1;
		}
		if (to >= 0 && shown[to])
			select(to, true);
	}

	function next(by) {
		var size = end[zoomed] - zoomed, i = current >= zoomed && current < end[zoomed] ?
			current - zoomed : by > 0 ? -1 : 0;
		for (var tries = 0; tries < size; tries++) {
			i = (i + by + size) % size;
			if (matched[zoomed + i]) {
				select(zoomed + i, true);
				return;
			}
		}
	}

	/* ---- zoom, and where it is kept ---- */

	function zoom(i) {
		zoomed = i >= 0 && i < n ? i : 0;
		layout();
		showPath();
		select(-1);
	}

	function go(i) {
		zoom(i);
		revealZoomed();
		remember(true);
	}

	/* The fragment: #frame=12&search=json. In a page of others it is not ours. */
	function remember(asStep) {
		var parts = [], url;
		if (!alone)
			return;
		if (zoomed)
			parts.push('frame=' + zoomed);
		if (found)
			parts.push('search=' + encodeURIComponent(found));
		url = '#' + parts.join('&');
		if (url === (location.hash || '#'))
			return;
		try {
			history[asStep ? 'pushState' : 'replaceState'](null, '', url);
		} catch (e) {
			/* Some browsers refuse it for local files: then it is not kept. */
		}
	}

	function recall() {
		var what = {frame: '0', search: ''};
		location.hash.slice(1).split('&').forEach(function (part) {
			var at = part.indexOf('=');
			try {
				what[part.slice(0, at)] = decodeURIComponent(part.slice(at + 1));
			} catch (e) {
				/* a fragment that somebody has cut */
			}
		});
		zoom(/^[0-9]+$/.test(what.frame) ? +what.frame : 0);
		search(what.search);
		revealZoomed();
	}

	/* ---- what the user does ---- */

	function frameOf(e) {
		var g = e.target.closest ? e.target.closest('.frames > g') : null;
		return g ? frames.indexOf(g) : -1;
	}

	function onKey(e) {
		if (e.target === input)
			return;
		if (e.key === '/' || (e.key.toLowerCase() === 'f' && (e.ctrlKey || e.metaKey))) {
			input.focus();
			input.select();
		} else if (e.ctrlKey || e.metaKey || e.altKey) {
			return;
		} else if (e.key.indexOf('Arrow') === 0) {
			step_to(e.key);
		} else if (e.key === 'Enter' && current >= 0) {
			go(current);
		} else if (e.key === 'Escape') {
			if (current >= 0)
				select(-1);
			else if (zoomed)
				go(0);
			else
				search('');
		} else if (e.key === 'n' || e.key === 'N') {
			next(e.key === 'n' ? 1 : -1);
		} else {
			return;
		}
		e.preventDefault();
	}

	function onSearchKey(e) {
		if (e.key === 'Escape') {
			search('');
			input.blur();
			svg.focus({preventScroll: true});
		} else if (e.key === 'Enter') {
			input.blur();
			svg.focus({preventScroll: true});
			next(1);
		}
		e.stopPropagation();
	}

	function addSearch() {
		var div = document.createElementNS(XHTML, 'div');
		box = document.createElementNS(NS, 'foreignObject');
		box.setAttribute('y', '4');
		box.setAttribute('height', '25');
		input = document.createElementNS(XHTML, 'input');
		input.setAttribute('type', 'search');
		input.setAttribute('placeholder', 'Search (regular expression)');
		input.setAttribute('aria-label', 'Search frames by regular expression');
		input.setAttribute('spellcheck', 'false');
		div.setAttribute('class', 'find');
		div.appendChild(input);
		box.appendChild(div);
		head.appendChild(box);
		input.addEventListener('input', function () { search(input.value); });
		input.addEventListener('keydown', onSearchKey);
	}

	/* ---- the window ---- */

	function resize(to) {
		var find;
		width = Math.max(200, Math.floor(to));
		svg.setAttribute('width', width);
		svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
		svg.querySelectorAll('.back').forEach(function (b) { b.setAttribute('width', width); });
		if (legend) {
			legend.setAttribute('transform', 'translate(' + (width - margin) + ',0)');
			legend.style.display = width < column * summaryText.length + 220 ? 'none' : '';
		}
		find = Math.min(240, width / 2 - margin);
		box.setAttribute('width', find);
		box.setAttribute('x', width - margin - find);
		/* Their sizes beside the frames' 12 px: 15 px and 11 px. */
		title.textContent = fit(titleText,
			Math.floor((width - 3 * margin - find) / (column * 15 / 12)));
		summary.textContent = fit(summaryText,
			Math.floor((width - 2 * margin) / (column * 11 / 12)));
		layout();
		showPath();
		say();
	}

	function fitWindow() {
		resize(window.innerWidth - (height > window.innerHeight ? 16 : 0));
		follow();
	}

	function follow() {
		head.setAttribute('transform', 'translate(0,' + Math.max(0, window.scrollY) + ')');
	}

	function measure() {
		var probe = svg.appendChild(document.createElementNS(NS, 'text'));
		probe.textContent = 'mmmmmmmmmmiiiiiiiiii';
		column = probe.getComputedTextLength() / 20 || column;
		probe.remove();
	}

	function listen() {
		svg.addEventListener('click', function (e) {
			var i = frameOf(e);
			if (i >= 0)
				go(i);
		});
		svg.addEventListener('pointerover', function (e) {
			var i = frameOf(e);
			if (i >= 0)
				details.textContent = fit(name[i] + '  ' + info[i],
					Math.floor((width - 2 * margin) / column));
			else
				say();
		});
		svg.addEventListener('pointerleave', say);
		(alone ? window : svg).addEventListener('keydown', onKey);
		if (!alone)
			return;
		window.addEventListener('resize', fitWindow);
		window.addEventListener('scroll', follow);
		window.addEventListener('popstate', recall);
		window.addEventListener('hashchange', recall);
		window.addEventListener('beforeprint', function () {
			head.removeAttribute('transform');
			resize(still);
		});
		window.addEventListener('afterprint', fitWindow);
	}

	read();
	if (!n)
		return;
	svg.classList.add('live');
	svg.setAttribute('tabindex', '0');
	measure();
	addSearch();
	listen();
	if (!alone) {
		resize(still);
		return;
	}
	svg.style.display = 'block';
	fitWindow();
	recall();
	follow();
})();
