# SPDX-License-Identifier: GPL-2.0-only
# web: the page of `quartzctl html` and of quartz-exporter: one file of HTML with its style and scripts in it.
# Scripts are one program, in this order: each may use those before it.
WEB_SCRIPTS := format dom model filter colors state names interval summary timeline flame bottle levels table \
	objects threads together detail search changes comparison scaling tries merge live app
WEB_SRC := $(WEB_SCRIPTS:%=web/%.js)
WEB_PAGE := $(O)/web/page.html

$(WEB_PAGE): web/build web/page.html web/page.css $(WEB_SRC)
	$(say) PAGE $@
	$(Q)mkdir -p $(@D)
	$(Q)web/build web/page.html web/page.css $(WEB_SRC) >$@

$(O)/core/html/html_file.o: $(WEB_PAGE)
$(O)/core/html/html_file.o: CPPFLAGS += -DQZ_HTML_TEMPLATE='"$(WEB_PAGE)"'
